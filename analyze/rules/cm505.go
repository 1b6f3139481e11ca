package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

var cm505 = Rule{Rule: cm505Doc, Check: checkCM505, Shrink: ShrinkNever}

var cm505Doc = finding.Rule{
	ID: "CM505", Name: "BehaviourDrift", Title: "Behaviour changed since an earlier run", Severity: finding.Medium, Family: finding.FamilyDrift,
	Advice: finding.Advice{Why: "An update, or the server's author, made the server do something new.", Fix: "Read the changes of the server and its dependencies. Authors: declare the behaviour.", Preview: true},
	CWE:    []string{"CWE-494", "CWE-506"}, OWASP: []string{"MCP04"},
	Help: "The server does what it did not do in the run of `--since`: it reaches for another host, runs another program, or opens a port. What an argument of the call names is left out, since inputs differ between seeds. Give both runs the same `--seed`.\n\n" +
		"**Evidence.** The records of the first such effect. It is informational where a declaration or the policy explains the effect.\n\n" +
		"**False positive when** the earlier run was shorter, or had other inputs.",
}

func checkCM505(r *Run) []finding.Finding {
	if r.Before == nil {
		return nil
	}
	var out []finding.Finding
	reasons := Ledger(r)
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		behaviour, ok := BehaviourOf(e)
		why := reasons[i]
		if !ok || r.Before.Behaviours[behaviour] || why != nil && why.Class == finding.ClassArgument {
			continue
		}
		f := finding.Finding{
			Rule: cm505Doc.ID, Severity: cm505Doc.Severity, Title: cm505Doc.Title, Confidence: finding.Certain, Tool: e.Tool, Call: e.Call, Phase: e.Phase,
			Message:     subject(e) + " " + text.Printable(behaviour, 200) + ", and did not in " + text.Printable(r.Before.From, 200),
			Evidence:    slices.Clone(e.Evidence),
			Fingerprint: finding.Fingerprint(cm505Doc.ID, behaviour),
		}
		if why != nil && why.Strength != finding.StrengthWeak {
			f.Severity = finding.Info
		}
		out = append(out, f)
	}
	return first(out)
}
