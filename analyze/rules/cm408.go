package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm408 = Rule{Rule: cm408Doc, Check: detected(cm408Doc.ID), Observations: []string{"unknown_server_request"}}

var cm408Doc = finding.Rule{
	ID: "CM408", Name: "UnknownServerRequest", Title: "Unknown request method from the server", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Clients reject or ignore unknown requests.", Fix: "Use only methods of the negotiated protocol version."},
	CWE:    []string{"CWE-284"}, OWASP: []string{"MCP02"},
	Help: "The server sent a request that the specification does not name.\n\n**Evidence.** The request's method. Glassport's name: `unknown_server_request`, severity 2.\n\n" +
		"**False positive when** client and server share an extension.",
}
