package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm401 = Rule{Rule: cm401Doc, Check: checkCM401, Observations: []string{"tool_poisoning"}}

var cm401Doc = finding.Rule{
	ID: "CM401", Name: "PoisonedText", Title: "Tool poisoning", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The model follows instructions in a declaration, and the user does not see them.", Fix: "Describe only the tool. Remove instructions about other tools, secrets or the user."},
	CWE:    []string{"CWE-94", "CWE-1427"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "The model reads everything that a server declares in every listing: names, titles, descriptions, schemas, instructions, icons, `_meta` and other members. This text instructs the model beyond the use of the tool: hidden instruction blocks, instructions to read secrets, to keep something from the user, or to override other tools.\n\n" +
		"**Evidence.** The words themselves, in the frame that declared them.\n\n" +
		"**False positive when** the text quotes such an attack, as a scanner's description may.",
}

func checkCM401(r *Run) []finding.Finding {
	return r.declared(&cm401Doc, "tool-poisoning", "gives the model instructions that the user does not see")
}
