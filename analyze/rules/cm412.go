package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm412 = Rule{Rule: cm412Doc, Judges: Client, Observations: []string{"unexpected_egress_host"}}

var cm412Doc = finding.Rule{
	ID: "CM412", Name: "UnexpectedEgressHost", Title: "Undeclared host in arguments", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The call can send data to a host that the user does not expect.", Fix: "Restrict the tool to declared hosts, or declare that it accepts any host."},
	CWE:    []string{"CWE-200", "CWE-918"}, OWASP: []string{"MCP10"},
	Help: "An argument holds an address on a host that neither the server's introduction nor its tools name; with sensitive data beside it the finding is high, and a well-known cloud's host is told only then.\n\n" +
		"**Evidence.** The host. Glassport's name: `unexpected_egress_host`, severity 3 or 2.\n\n**False positive when** the tool fetches whatever the user asks for. Not judged where coalmine was the client.",
}
