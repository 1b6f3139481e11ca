package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

var cm227 = Rule{Rule: cm227Doc, Check: checkCM227}

var cm227Doc = finding.Rule{
	ID: "CM227", Name: "DryRunChanges", Title: "Change during a dry run", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "A person or a model tries a dry run because it is safe, and loses data.", Fix: "Change nothing where the argument asks for a dry run.", Preview: true},
	CWE:    []string{"CWE-684", "CWE-284"}, OWASP: []string{"MCP02"},
	Help: "An argument of the call asks for a dry run (`dry_run`, `simulate`, `what_if`, or `preview` and `check` where the schema says that nothing is changed then), by its value or by the default that the schema names, and the call changed or deleted a file.\n\n" +
		"**Evidence.** The call and the kernel's record of the change. High where the file stood there before, medium where it is new; work that could belong to another call is low.\n\n" +
		"Quiet are temporary files, and what the server keeps for itself: its directory, its state, its log, and a lock that it made when it started.\n\n" +
		"**False positive when** the argument means something else in this server.",
}

var (
	// dryName is the name of a switch by which nothing is done, and trialName one that may also mean something else.
	dryName   = lazyregexp.New(`(?i)^(?:(?:is|do|as)[_-]?)?(?:dry[_-]?run|dry|simulate|simulation|simulated|no[_-]?op|what[_-]?if|only[_-]?simulate)$`)
	trialName = lazyregexp.New(`(?i)^(?:(?:is|do|as)[_-]?)?(?:preview(?:[_-]?only)?|check(?:[_-]?only)?|test(?:[_-]?only)?|report[_-]?only|plan(?:[_-]?only)?|list[_-]?only|show[_-]?only)$`)
	// changesNothing says so of such a switch.
	changesNothing = lazyregexp.New(`(?i)\b(?:nothing|without|not|no|never|n't)\b.{0,40}\b(?:chang|delet|remov|writ|touch|mov|renam|modif|appl|sav|do|done|perform|execut)\w*|\bonly (?:tells?|shows?|says?|lists?|reports?|previews?|simulates?)\b|\bwould\b|\bdry run\b`)
)

func checkCM227(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if !isChange(e.Kind) || e.Call == 0 || e.Rung == finding.RungAttempted || r.excused(i) || !r.isDry(e) ||
			r.ownPath(e.Target) || r.isOwnState(e.Target) || r.isTemporary(e.Target) || r.besideDatabase(e.Target) || r.goesOn(e) || r.comesAndGoes(e) {
			continue
		}
		f := r.of(&cm227Doc, e, "")
		switch {
		case e.Ambiguous:
			f.Severity = finding.Low
		case !r.stood(e.Target):
			f.Severity = finding.Medium
		}
		out, targets = append(out, f), append(targets, r.stable(e.Target))
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		return "“" + f.Tool + "” changed files in a dry run: " + list(targets, 3)
	})
}

// isDry reports whether an argument of the call of an effect asks for a dry run.
func (r *Run) isDry(e *finding.Effect) bool {
	i := slices.IndexFunc(r.Surface.Tools, func(t wire.Tool) bool { return t.Name == e.Tool })
	var args map[string]json.RawMessage
	var schema struct {
		Properties map[string]struct {
			Description string          `json:"description"`
			Default     json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if i < 0 || json.Unmarshal(r.Args[e.Call], &args) != nil || json.Unmarshal(r.Surface.Tools[i].InputSchema, &schema) != nil {
		return false
	}
	for name, p := range schema.Properties {
		value, given := args[name]
		if !given {
			value = p.Default
		}
		if string(value) == "true" && (dryName.MatchString(name) || trialName.MatchString(name) && (changesNothing.MatchString(p.Description) || saysDry(r.Surface.Tools[i].Description, name))) {
			return true
		}
	}
	return false
}

// saysDry reports whether a sentence of a description that names a switch says that nothing is changed.
func saysDry(description, name string) bool {
	return slices.ContainsFunc(sentenceEnd.Split(description, -1), func(s string) bool {
		return strings.Contains(strings.ToLower(s), strings.ToLower(name)) && changesNothing.MatchString(s)
	})
}
