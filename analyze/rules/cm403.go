package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm403 = Rule{Rule: cm403Doc, Check: checkCM403, Observations: []string{"not_protocol"}}

var cm403Doc = finding.Rule{
	ID: "CM403", Name: "NotProtocol", Title: "Output that is not JSON-RPC", Severity: finding.Low, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "A client that reads this line can fail or disconnect.", Fix: "Write logs to stderr. Write only JSON-RPC messages to stdout."},
	CWE:    []string{"CWE-20"}, OWASP: []string{"MCP02"},
	Help: "A line on the server's stdout was no JSON-RPC message: a banner, a log line, garbage. Many clients end the session at such a line.\n\n" +
		"**Evidence.** The raw line in `session.jsonl`. The session went on at the next line.\n\n" +
		"**False positive when** never; it is what the wire held.",
}

func checkCM403(r *Run) []finding.Finding {
	if r.Wire.BadLineCount == 0 {
		return nil
	}
	l := r.Wire.BadLines[0]
	return []finding.Finding{{
		Rule: cm403Doc.ID, Severity: cm403Doc.Severity, Title: cm403Doc.Title, Confidence: finding.Certain,
		Message: "stdout has " + plural(r.Wire.BadLineCount, "line") + " of output that is not JSON-RPC", Tool: l.Tool, Call: l.Call,
		Evidence:    facts(r.Wire.BadLines),
		Fingerprint: finding.Fingerprint("CM403"),
	}}
}
