package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm406 = Rule{Rule: cm406Doc, Judges: Client, Observations: []string{"schema_violation"}}

var cm406Doc = finding.Rule{
	ID: "CM406", Name: "ArgumentsAgainstSchema", Title: "Arguments violate the inputSchema", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The server may fail or do something else with such arguments.", Fix: fixInput},
	CWE:    []string{"CWE-20", "CWE-1287"}, OWASP: []string{"MCP05"},
	Help: "A call's arguments lack a required member, have one of a wrong type, one that no schema names, or violate another keyword of the tool's `inputSchema`.\n\n" +
		"**Evidence.** The place within the arguments; never the value. Glassport's name: `schema_violation`, severity 2.\n\n" +
		"**False positive when** the server is known to accept more than it declares. Not judged where coalmine was the client.",
}
