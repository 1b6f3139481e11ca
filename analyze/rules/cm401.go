package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm401 = Rule{Rule: cm401Doc, Check: checkCM401, Observations: []string{"tool_poisoning"}}

var cm401Doc = finding.Rule{
	ID: "CM401", Name: "PoisonedText", Title: "Tool poisoning", Severity: finding.High,
	CWE: []string{"CWE-94", "CWE-1427"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "Whatever a server declares is read in every listing: names, titles, descriptions, schemas, instructions, icons, `_meta` and any other member. A text that is directed at the model and at more than the tool's use is a finding: hidden instruction blocks, orders to read secrets, to keep silent before the user, or to override other tools.\n\n" +
		"**Evidence.** The words themselves, in the frame that declared them.\n\n" +
		"**False positive when** the text quotes such an attack, as a scanner's description may.",
}

func checkCM401(r *Run) []finding.Finding {
	return r.declared(&cm401Doc, "tool-poisoning", "gives the model instructions that the user does not see")
}
