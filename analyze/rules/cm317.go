package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm317 = Rule{Rule: cm317Doc, Check: checkCM317}

var cm317Doc = finding.Rule{
	ID: "CM317", Name: "MassAssignment", Title: "Mass assignment", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "A caller gives itself rights or credit by a member that no schema declares.", Fix: "Copy the declared members one by one, and set additionalProperties to false.", Preview: true},
	CWE:    []string{"CWE-915"}, OWASP: []string{"MCP02", "MCP07"},
	Help: "A call set a member that its schema does not declare (`role`, `admin`, `credit`, `price`, `owner`, `approved` and the like), and another tool returned the value afterwards: the server kept it.\n\n" +
		"**Evidence.** The answer with the value, which was drawn for this and stands in no other call.\n\n" +
		"**False positive when** the object is declared to hold whatever the caller likes, and the server gives the member no meaning.",
}

func checkCM317(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OracleAssign) {
		out = append(out, r.proven(&cm317Doc, h, "“"+text.Printable(r.toolOf(h.Call), 80)+"” returned an undeclared member ("+text.Printable(h.Context, 120)+") that the server kept: mass assignment"))
		contexts = append(contexts, h.Context)
	}
	return first(aboutOne(out, contexts))
}
