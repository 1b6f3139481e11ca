package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm413 = Rule{Rule: cm413Doc, Check: detected(cm413Doc.ID), Observations: []string{"output_schema_violation"}}

var cm413Doc = finding.Rule{
	ID: "CM413", Name: "ResultAgainstSchema", Title: "Result violates the outputSchema", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Clients that validate results reject this one.", Fix: "Return structuredContent that matches the outputSchema, or correct the schema."},
	CWE:    []string{"CWE-20"}, OWASP: []string{"MCP05"},
	Help: "A tool that declares an `outputSchema` returned structured content that does not satisfy it (medium), or none at all (low).\n\n**Evidence.** The place within the content; never the value.\n\n" +
		"**False positive when** never for what the validator says; a schema that cannot be compiled claims nothing.",
}
