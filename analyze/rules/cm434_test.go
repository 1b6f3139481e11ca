package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// rewording is a run in which a result had other sentences than its call gave.
func rewording(tool wire.Tool, severity finding.Severity) *Run {
	r := newRun(tool)
	r.Wire.Detected = []Detected{{Finding: finding.Finding{Rule: "CM434", Title: cm434Doc.Title, Severity: severity, Tool: tool.Name, Message: "a result has other sentences",
		Confidence: finding.Certain, Evidence: []finding.Evidence{{Source: "frame", Seq: 9}}, Fingerprint: finding.Fingerprint("CM434", tool.Name)}}}
	return r
}

func init() {
	plain := described("lay_out", "Lays a contract out.")
	cases = append(cases, []ruleCase{
		{"CM434", "against a promise", rewording(described("lay_out", "Lays a contract out. The wording of a text is never changed."), finding.High), finding.High},
		{"CM434", "a number, against a promise", rewording(described("lay_out", "Numbers the clauses. Nothing else about them changes."), finding.Medium), finding.High},
		{"CM434", "a number, against another promise", rewording(described("lay_out", "Sorts lines and leaves each of them as it was."), finding.Medium), finding.High},
		{"CM434", "a negation", rewording(plain, finding.High), finding.Medium},
		{"CM434", "a number", rewording(plain, finding.Medium), ""},
		{"CM434", "a number, of a tool that changes texts", rewording(described("lay_out", "The text is changed to metric units."), finding.Medium), ""},
	}...)
}
