package rules

import (
	"fmt"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

var cm208 = Rule{Rule: cm208Doc, Check: checkCM208}

var cm208Doc = finding.Rule{
	ID: "CM208", Name: "PolicyViolated", Title: "Policy violation", Severity: finding.Medium, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Your policy does not allow this.", Fix: "Remove the behaviour, or change the policy after a review."},
	CWE:    []string{"CWE-284"}, OWASP: []string{"MCP02"},
	Help: "The user's policy (`coalmine.yaml`) denies what the server did, or has a list of allowed items that does not contain it. A given list contains everything that is allowed; a missing list allows everything. A policy that names tools applies to every tool, so a tool that it does not name is a finding too.\n\n" +
		"**Evidence.** The kernel's record, or the flow, of the effect. High where the policy denies it; low where it failed or could belong to another call. What is ordinary for any program of its kind (its own files, the loader's, the time zone's) needs no leave; what the policy denies is never ordinary.\n\n" +
		"**False positive when** the policy is out of date; `--emit-policy` writes one that fits.",
}

func checkCM208(r *Run) []finding.Finding {
	if r.Policy == nil {
		return nil
	}
	var out []finding.Finding
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		for _, w := range r.wants(e) {
			if v := r.verdict(e, w); v.denied != nil || v.outside && e.Noise == "" {
				out = append(out, r.violation(e, w, v))
			}
		}
		for _, w := range inside(e) {
			if v := r.verdict(e, w); v.denied != nil {
				out = append(out, r.violation(e, w, v))
			}
		}
	}
	out = append(first(out), r.unnamedTools()...)
	return out
}

// violation is what the policy has against one want of an effect.
func (r *Run) violation(e *finding.Effect, w want, v ruling) finding.Finding {
	f := r.of(&cm208Doc, e, "")
	f.Fingerprint = finding.Fingerprint("CM208", e.Tool, string(w.list), r.stable(w.name))
	does := map[listName]string{listFiles: "used the file", listHosts: "tried to reach", listCommands: "ran", listEnv: "exposed the variable"}[w.list]
	f.Message = fmt.Sprintf("%s %s %s, which the policy does not allow", subject(e), does, r.stable(w.name))
	switch {
	case v.denied != nil:
		f.Severity = finding.High
		f.Message = fmt.Sprintf("%s %s %s, which the policy denies (%s, line %d)", subject(e), does, r.stable(w.name), v.denied.Text, v.denied.At.Line)
	case e.Ambiguous || e.Rung == finding.RungAttempted && w.list == listFiles:
		f.Severity = finding.Low
	}
	f.Location = r.ruledAt(e, v)
	return f
}

// ruledAt is the line of the policy that decided: what denies it, or the entry whose
// list is the whole.
func (r *Run) ruledAt(e *finding.Effect, v ruling) *finding.Location {
	at := r.Policy.Server.At
	if entry, ok := r.Policy.Tool(e.Tool); ok {
		at = entry.At
	}
	if v.denied != nil {
		at = v.denied.At
	}
	return &finding.Location{Path: r.Policy.File, Line: max(at.Line, 1), Column: at.Column}
}

// unnamedTools reports the tools that a policy which names tools does not name.
func (r *Run) unnamedTools() []finding.Finding {
	if len(r.Policy.Tools) == 0 {
		return nil
	}
	var names []string
	for _, t := range r.Surface.Tools {
		if _, ok := r.Policy.Tools[t.Name]; !ok && !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	var shown []string
	for _, n := range names[:min(len(names), 6)] {
		shown = append(shown, "“"+text.Printable(n, 80)+"”")
	}
	return []finding.Finding{{
		Rule: cm208Doc.ID, Severity: cm208Doc.Severity, Title: cm208Doc.Title, Confidence: finding.Certain, Phase: finding.PhaseList,
		Message:     fmt.Sprintf("the server offers %s that the policy does not name: %s", plural(len(names), "tool"), list(shown, 5)),
		Evidence:    []finding.Evidence{{Source: "frame", Text: "declared: " + list(shown, 5)}},
		Location:    &finding.Location{Path: r.Policy.File, Line: 1},
		Fingerprint: finding.Fingerprint("CM208", append([]string{"tools"}, names...)...),
	}}
}
