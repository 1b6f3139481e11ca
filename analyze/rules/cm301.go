package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm301 = Rule{Rule: cm301Doc, Check: checkCM301}

var cm301Doc = finding.Rule{
	ID: "CM301", Name: "CommandInjection", Title: "Command injection", Severity: finding.Critical, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever controls the argument, such as a prompt injection, runs commands on the user's machine.", Fix: "Run programs without a shell: pass a list of arguments (subprocess.run([...]), execFile, exec.Command)."},
	CWE:    []string{"CWE-78"}, OWASP: []string{"MCP05"},
	Help: "A string argument with shell syntax made the server start a program, or made a shell create a file. The argument spells the name only in pieces.\n\n" +
		"**Evidence.** The kernel's record of the exec or of the new file. The name stands whole in no input, so that an echo, a split or a file named after the input is no proof: only a shell joins the pieces. High is an argument with shell syntax that the record shows in a shell's command outside of quotes that hold it, whether or not the command came to it.\n\n" +
		"A tool whose declared purpose is to run the command or the code it is given, and that does not declare to read only, is judged by that purpose: no finding. **False positive when** a declaration says so in words that the lexicon does not know.",
}

func checkCM301(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OracleCommand) {
		t := r.Scope.Tool(r.toolOf(h.Call))
		if runsCommands(&t, h.At) && !t.ClaimsReadOnly() {
			continue
		}
		out = append(out, r.proven(&cm301Doc, h, r.quoted(h)+" ran as a shell command ("+h.Context+") and "+did(h)))
		contexts = append(contexts, h.Context)
	}
	return first(append(aboutOne(out, contexts), r.spoken()...))
}
