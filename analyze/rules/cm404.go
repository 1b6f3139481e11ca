package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm404 = Rule{Rule: cm404Doc, Check: checkCM404, Observations: []string{"capability_violation"}}

var cm404Doc = finding.Rule{
	ID: "CM404", Name: "UngrantedRequest", Title: "Request without a negotiated capability", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The MCP specification forbids requests without the client's capability.", Fix: "Check the client's capabilities from initialize before each request."},
	CWE:    []string{"CWE-284"}, OWASP: []string{"MCP02", "MCP06"},
	Help: "The server sent a request (sampling, roots, elicitation) that needs a capability which the client did not offer.\n\n" +
		"**Evidence.** The handshake and the request, both in `session.jsonl`.\n\n" +
		"**False positive when** never; the specification forbids it.",
}

func checkCM404(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, q := range r.Wire.Requests {
		out = append(out, finding.Finding{
			Rule: cm404Doc.ID, Severity: cm404Doc.Severity, Title: cm404Doc.Title, Confidence: finding.Certain,
			Message: "the server sent " + q.Text + ", but the client did not grant that capability", Tool: q.Tool, Call: q.Call,
			Evidence:    facts([]Fact{q}),
			Fingerprint: finding.Fingerprint("CM404", q.Text),
		})
	}
	return first(out)
}
