package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm416 = Rule{Rule: cm416Doc, Observations: []string{"tool_shadowing"}}

var cm416Doc = finding.Rule{
	ID: "CM416", Name: "ToolShadowing", Title: "Tool shadowing", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The model may call this server where the user means the other one.", Fix: "Use unique tool names, and do not mention tools of other servers in descriptions."},
	CWE:    []string{"CWE-694", "CWE-1427"}, OWASP: []string{"MCP03"},
	Help: "In the logs of several servers, one server declares a tool with the name of another server's tool (low), or its text mentions another server's tool (medium; high if the text also instructs the model).\n\n" +
		"**Evidence.** Both declarations.\n\n**False positive when** both servers are one's own and are meant to work together.",
}
