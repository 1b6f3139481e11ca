package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm415 = Rule{Rule: cm415Doc, Judges: Client, Observations: []string{"role_switch_delimiter", "zero_width_obfuscation"}}

var cm415Doc = finding.Rule{
	ID: "CM415", Name: "TaintedArguments", Title: "Prompt injection in arguments", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The argument can change the roles in a prompt that the server builds.", Fix: "Escape or remove prompt delimiters and invisible characters before building a prompt."},
	CWE:    []string{"CWE-94", "CWE-1427"}, OWASP: []string{"MCP06"},
	Help: "An argument contains a delimiter that marks roles in a model's prompt (`role_switch_delimiter`), or zero-width characters (`zero_width_obfuscation`).\n\n**Evidence.** The argument's name.\n\n" +
		"**False positive when** the text is about prompts. Joiners that a script or an emoji needs are quiet. Not judged where coalmine was the client.",
}
