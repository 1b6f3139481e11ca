package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm501 = Rule{Rule: cm501Doc, Check: checkCM501, Shrink: ShrinkFresh, Observations: []string{"surface_change"}}

var cm501Doc = finding.Rule{
	ID: "CM501", Name: "SurfaceChanged", Title: "The surface changed within the run", Severity: finding.Medium,
	CWE: []string{"CWE-494"}, OWASP: []string{"MCP03"},
	Help: "Between two listings of the same run a declaration changed: a description, a schema, an annotation, a new or a missing tool. What a user approved is no longer what is offered.\n\n" +
		"**Evidence.** Both listings in `session.jsonl`. A tool that appears or disappears is low, since servers may announce that; another text or schema under the same name is medium.\n\n" +
		"**False positive when** the change is the declared effect of the call before it.",
}

func checkCM501(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, c := range r.Wire.Changes {
		f := finding.Finding{
			Rule: cm501Doc.ID, Severity: cm501Doc.Severity, Title: cm501Doc.Title, Confidence: finding.Certain,
			Message: c.Text, Tool: c.Tool, Call: c.Call, Evidence: facts([]Fact{c}),
			Fingerprint: finding.Fingerprint("CM501", c.Tool, c.Text),
		}
		if strings.HasSuffix(c.Text, "appeared") || strings.HasSuffix(c.Text, "disappeared") {
			f.Severity = finding.Low
		}
		out = append(out, f)
	}
	return first(out)
}
