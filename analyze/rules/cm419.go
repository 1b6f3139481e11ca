package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm419 = Rule{Rule: cm419Doc, Check: detected(cm419Doc.ID), Observations: []string{"secret_asked"}}

var cm419Doc = finding.Rule{
	ID: "CM419", Name: "SecretAsked", Title: "Secret requested from the user", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The secret passes through the client and its logs. The MCP specification forbids this.", Fix: "Use URL mode elicitation or an environment variable for credentials."},
	CWE:    []string{"CWE-522", "CWE-359"}, OWASP: []string{"MCP01", "MCP06"},
	Help: "A request for input (`elicitation/create`, or a result that asks for input) has a field or a message that asks for a password, a key, a token, a code or a card's number. The specification forbids it: such a form passes through the client and what logs it. A URL that the user is to open is allowed.\n\n" +
		"**Evidence.** The field or the message, in the frame. coalmine declines every form, so that nothing is given.\n\n" +
		"**False positive when** the word means something else: a field of that name that takes no secret.",
}
