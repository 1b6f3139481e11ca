package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm309 = Rule{Rule: cm309Doc, Check: checkCM309}

var cm309Doc = finding.Rule{
	ID: "CM309", Name: "StatementInjection", Title: "Injection into a statement", Severity: finding.Critical, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever controls the argument reads and changes everything that the server's role can.", Fix: "Pass values as parameters of the statement ($1, ?), and check names of tables and columns against a list.", Preview: true},
	CWE:    []string{"CWE-89", "CWE-943"}, OWASP: []string{"MCP05"},
	Help: "With `--service` a string argument became a part of a statement that a real service was given, outside of quotes and comments: the caller writes the statement.\n\n" +
		"**Evidence.** The statement as the service got it, with a word of the input, drawn for the call, where a name or an operator stands. Whether the service then took it does not matter.\n\n" +
		"Quiet where the argument is declared to be SQL or a part of it. **False positive when** the argument names a table or a column, the server checks it against a list, and the declaration says neither.",
}

func checkCM309(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OracleStatement) {
		if r.takesStatements(r.toolOf(h.Call), h.At) {
			continue
		}
		out = append(out, r.proven(&cm309Doc, h, r.quoted(h)+" became a part of a statement of "+h.Target))
		contexts = append(contexts, h.Context)
	}
	return first(aboutOne(out, contexts))
}
