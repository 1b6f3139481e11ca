package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm411 = Rule{Rule: cm411Doc, Judges: Client, Observations: []string{"pii_*"}}

var cm411Doc = finding.Rule{
	ID: "CM411", Name: "SecretInArguments", Title: "Credential or personal data in arguments", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The server and its logs get the data.", Fix: "Do not put credentials into arguments. Configure them in the server's environment."},
	CWE:    []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP10"},
	Help: "A call hands the server something of the shape of a credential or of personal data. Private keys, providers' keys and numbers with check digits are high, tokens and named secrets medium, addresses low.\n\n" +
		"**Evidence.** The category and the length. Glassport's names: `pii_…`.\n\n**False positive when** the tool's purpose is to take it. Not judged where coalmine was the client.",
}
