package analyze

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/audit"
)

// confirm says of each flow that the audit found in the source what the run knows of it:
// that a finding of the same tool and weakness shows it, that the tool was called and
// nothing showed it, or that the tool was not called.
func (res *Result) confirm() {
	if res.Audit == nil {
		return
	}
	weaknesses := map[string][]string{}
	for _, r := range audit.Rules() {
		weaknesses[r.ID] = r.CWE
	}
	audited := *res.Audit
	audited.Findings = slices.Clone(audited.Findings)
	for i := range audited.Findings {
		f := &audited.Findings[i]
		cwe := weaknesses[f.Rule]
		if f.Tool == "" || len(cwe) == 0 {
			continue
		}
		if shown := res.showing(f.Tool, cwe); shown != "" {
			f.Confidence = finding.Certain
			f.Message += "; confirmed by the run (" + shown + ")"
			continue
		}
		called := slices.ContainsFunc(res.Coverage.Tools, func(t ToolCoverage) bool { return t.Name == f.Tool && t.OK > 0 })
		if called {
			f.Message += "; the run called the tool and did not confirm it"
		} else {
			f.Message += "; the run did not call the tool"
		}
	}
	res.Audit = &audited
}

// showing is the rule of a finding of the run on a tool with one of the weaknesses.
func (res *Result) showing(tool string, cwe []string) string {
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Tool != tool || !strings.HasPrefix(f.Rule, "CM3") {
			continue
		}
		rule, _ := rules.Of(f.Rule)
		if slices.ContainsFunc(rule.CWE, func(c string) bool { return slices.Contains(cwe, c) }) {
			return f.Rule
		}
	}
	return ""
}
