package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm405 = Rule{Rule: cm405Doc, Judges: Client, Observations: []string{"fabricated_tool_call"}}

var cm405Doc = finding.Rule{
	ID: "CM405", Name: "FabricatedCall", Title: "Call of an undeclared tool", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The client or model invented this tool.", Fix: "Call only tools of the newest tools/list."},
	CWE:    []string{"CWE-284"}, OWASP: []string{"MCP02", "MCP09"},
	Help: "The client called a tool outside the newest complete `tools/list`: a model made it up, a client mixed up its servers, or a server serves more than it says.\n\n" +
		"**Evidence.** The call, and the list that was valid then. Glassport's name: `fabricated_tool_call`, severity 3.\n\n" +
		"**False positive when** the list was changed and the log was cut off in between. Not judged where coalmine was the client.",
}
