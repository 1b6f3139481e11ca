package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

var cm315 = Rule{Rule: cm315Doc, Check: checkCM315}

var cm315Doc = finding.Rule{
	ID: "CM315", Name: "QuoteBreaksQuery", Title: "Injection into a query (a quote breaks it)", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever controls the argument writes a part of the query, and reads what it was to leave out.", Fix: "Pass values as parameters of the query, or escape them by the engine's own function.", Preview: true},
	CWE:    []string{"CWE-89", "CWE-643", "CWE-90", "CWE-943"}, OWASP: []string{"MCP05"},
	Help: "An argument with a quote made an engine of queries (SQL, XPath, LDAP, MongoDB, Cypher, GraphQL) refuse the query because it did not parse; without a quote the tool's calls did not. The argument became a part of the query's text.\n\n" +
		"**Evidence.** The engine's error in the answer.\n\n" +
		"Quiet where the argument is declared to be such a query or a part of it, and for the own syntax of full-text searches. **False positive when** the server checks the argument by an engine's parser and refuses it.",
}

// QueryError is an engine's refusal of a query that did not parse; its Text is the error.
type QueryError struct {
	Fact
	Language string
	// Argument is the call's argument that held a quote, "" for none.
	Argument string
}

// queryWords are the names of arguments that hold a query, or a part of it.
var queryWords = []string{"sql", "xpath", "expression", "expr", "filter", "query", "selector", "where", "statement", "cypher", "graphql", "ldap", "condition", "predicate", "pipeline"}

func checkCM315(r *Run) []finding.Finding {
	var out distinct
	for _, e := range r.Wire.QueryErrors {
		always := slices.ContainsFunc(r.Wire.QueryErrors, func(o QueryError) bool { return o.Tool == e.Tool && o.Language == e.Language && o.Argument == "" })
		if e.Argument == "" || always || e.Tool == "" || r.takesQuery(&e) {
			continue
		}
		fact := e.Fact
		fact.Text = "the answer: “" + text.Printable(e.Text, 200) + "”"
		out.add(finding.Finding{
			Rule: cm315Doc.ID, Severity: cm315Doc.Severity, Title: cm315Doc.Title, Confidence: finding.Probable, Tool: e.Tool, Call: e.Call, Phase: finding.PhaseCall,
			Message:  "a quote in argument “" + text.Printable(e.Argument, 80) + "” of “" + text.Printable(e.Tool, 80) + "” broke a query (" + e.Language + ")",
			Evidence: facts([]Fact{fact}), Fingerprint: finding.Fingerprint(cm315Doc.ID, e.Tool, e.Argument, e.Language),
		})
	}
	return out.list
}

// takesQuery reports whether the argument of an error is declared to be a query, or a part of one.
func (r *Run) takesQuery(e *QueryError) bool {
	if r.takesStatements(e.Tool, "/"+e.Argument) {
		return true
	}
	t := r.Scope.Tool(e.Tool)
	names := slices.ContainsFunc(words(e.Argument), func(w string) bool { return slices.Contains(queryWords, w) })
	return names && slices.ContainsFunc([]string{strings.ToLower(e.Language), "expression", "expressions", "syntax"}, t.Says)
}
