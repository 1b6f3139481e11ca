package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm429 = Rule{Rule: cm429Doc, Check: detected(cm429Doc.ID), Observations: []string{"added_address"}}

var cm429Doc = finding.Rule{
	ID: "CM429", Name: "AddedAddress", Title: "Address added to a result", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Whoever uses the list admits, pays or writes to somebody whom nobody named.", Fix: "Answer with the addresses that the call gave, or say in the description which one is added.", Preview: true},
	CWE:    []string{"CWE-451", "CWE-345"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "Results of a tool have all addresses that their calls gave, and in the same form one more that no call gave: an IPv4 address or network, a mail address, a bank account (IBAN) or a wallet. It is the same for calls that gave others.\n\n" +
		"**Evidence.** The second such result, and the address.\n\n" +
		"Quiet are addresses of the machine and of private networks, public servers of names, and what the tool's declaration or the instructions name.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says that the address is added.",
}
