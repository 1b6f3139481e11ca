package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm308 = Rule{Rule: cm308Doc, Check: checkCM308}

var cm308Doc = finding.Rule{
	ID: "CM308", Name: "UndeclaredArgument", Title: "Hidden argument", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Nobody reviews an argument that the schema does not show.", Fix: "Declare the argument, or set additionalProperties to false and reject it.", Preview: true},
	CWE:    []string{"CWE-912", "CWE-915"}, OWASP: []string{"MCP03"},
	Help: "A call had arguments that are in no schema. The server ran one of them as a command or as code, or read or wrote its path.\n\n" +
		"**Evidence.** The kernel's record, or the planted file's text on the wire.\n\n" +
		"**False positive when** the tool's description, not its schema, speaks of the argument.",
}

func checkCM308(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Hits {
		h := &r.Profile.Hits[i]
		tool := r.toolOf(h.Call)
		t := r.Scope.Tool(tool)
		if !h.Undeclared || h.Oracle == session.OraclePrototype || h.How == profile.HitListed || !r.declaredTool(tool) ||
			t.Says(argument(h.At)) || h.Path != "" && r.Profile.Unasked(tool, h.Path) {
			continue
		}
		out = append(out, r.proven(&cm308Doc, h, "the undeclared "+r.quoted(h)+" took effect: "+h.Evidence.Text))
	}
	return first(out)
}
