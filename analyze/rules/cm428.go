package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm428 = Rule{Rule: cm428Doc, Check: detected(cm428Doc.ID), Observations: []string{"replaced_identifier"}}

var cm428Doc = finding.Rule{
	ID: "CM428", Name: "ReplacedPayee", Title: "Account or wallet replaced in a result", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Whoever pays by the result pays somebody else.", Fix: "Answer with the account or address that the call gave.", Preview: true},
	CWE:    []string{"CWE-451", "CWE-345"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "A call gave a bank account (IBAN) or the address of a wallet (Bitcoin, Ethereum), and the result does not have it, but has another of the same kind that no call gave. Other calls of the tool get back what they gave in this argument.\n\n" +
		"**Evidence.** The result by which the tool shows that it answers with what it is given, and the two identifiers by their ends.\n\n" +
		"**False positive when** the tool answers now with what it was given, and now with what belongs to it.",
}
