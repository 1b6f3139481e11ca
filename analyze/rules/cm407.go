package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm407 = Rule{Rule: cm407Doc, Judges: Client, Observations: []string{"premature_call", "call_before_declaration", "declaration_unavailable"}}

var cm407Doc = finding.Rule{
	ID: "CM407", Name: "CallOutOfOrder", Title: "Call before initialize or tools/list", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Without the handshake and tools/list the client does not know what it calls.", Fix: "Send initialize, notifications/initialized and tools/list before the first call."},
	CWE:    []string{"CWE-696"}, OWASP: []string{"MCP02"},
	Help: "A tool was called before `notifications/initialized` (`premature_call`, medium), without any `tools/list` having been asked for (`call_before_declaration`, low), or while no complete list was known (`declaration_unavailable`, low).\n\n" +
		"**Evidence.** The call. In the era without sessions no handshake is expected.\n\n" +
		"**False positive when** a client keeps the list of an earlier session. A log that begins in the middle proves nothing and stays quiet.",
}
