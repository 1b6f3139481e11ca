package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm305 = Rule{Rule: cm305Doc, Check: checkCM305}

var cm305Doc = finding.Rule{
	ID: "CM305", Name: "CodeEvaluation", Title: "Code injection", Severity: finding.Critical, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever controls the argument runs code in the server's process.", Fix: "Parse the value instead of evaluating it (ast.literal_eval, JSON, yaml.safe_load), and never compile templates from arguments."},
	CWE:    []string{"CWE-94", "CWE-95", "CWE-134", "CWE-502", "CWE-1336"}, OWASP: []string{"MCP05"},
	Help: "The server evaluated a string argument: an expression of JavaScript or Python, a template directive, or a YAML or pickle document that creates objects. It created a file whose name the argument spells only in pieces, started a program, or returned the type of an object that only a format string with attributes names.\n\n" +
		"**Evidence.** The kernel's record of the file or the exec. The name stands whole in no input: only an interpreter joins the pieces. For a format string, the answer: the token, followed by the types that `__mro__` lists.\n\n" +
		"A tool whose declared purpose is to run the code it is given is judged by that purpose: no finding. **False positive when** a declaration says so in words that the lexicon does not know.",
}

func checkCM305(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OracleCode) {
		t := r.Scope.Tool(r.toolOf(h.Call))
		if runsCommands(&t, h.At) {
			continue
		}
		out = append(out, r.proven(&cm305Doc, h, r.quoted(h)+" ran as code ("+h.Context+") and "+did(h)))
		contexts = append(contexts, h.Context)
	}
	return aboutOne(out, contexts)
}
