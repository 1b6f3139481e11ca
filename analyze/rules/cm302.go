package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm302 = Rule{Rule: cm302Doc, Check: checkCM302}

var cm302Doc = finding.Rule{
	ID: "CM302", Name: "ArgumentInjection", Title: "Argument injection", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Options of programs such as git, tar and find can run commands or write files.", Fix: "Put -- before the argument, or reject values that begin with a dash."},
	CWE:    []string{"CWE-88"}, OWASP: []string{"MCP05"},
	Help: "A program that the server ran obeyed a string argument that looks like an option (`--output=NAME`) and created a file of that name. Or the server split one text at a blank, and the later part became an option.\n\n" +
		"**Evidence.** The kernel's record of the file, or of the exec with the option as an argument of its own before any `--`.\n\n" +
		"A tool that declares to take a program's arguments or to run commands may hand them on: no finding, unless it declares to read only: of find, sort, git, sed and awk an option writes. **False positive when** the option could do no harm.",
}

func checkCM302(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OracleArgument) {
		t := r.Scope.Tool(r.toolOf(h.Call))
		if (runsCommands(&t, h.At) || among(t.Options, h.At)) && !t.ClaimsReadOnly() {
			continue
		}
		out = append(out, r.proven(&cm302Doc, h, r.quoted(h)+" reached a program as an option ("+h.Context+") and "+did(h)))
		contexts = append(contexts, h.Context)
	}
	return aboutOne(out, contexts)
}
