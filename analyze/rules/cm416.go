package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm416 = Rule{Rule: cm416Doc, Observations: []string{"tool_shadowing"}}

var cm416Doc = finding.Rule{
	ID: "CM416", Name: "ToolShadowing", Title: "Tool shadowing", Severity: finding.Medium,
	CWE: []string{"CWE-694", "CWE-1427"}, OWASP: []string{"MCP03"},
	Help: "Of several servers' logs, one server declares a tool of the same name as another's (low), or a text of it speaks of another server's tool (medium; high where the text also gives orders to the model).\n\n" +
		"**Evidence.** Both declarations.\n\n**False positive when** both servers are one's own and are meant to work together.",
}
