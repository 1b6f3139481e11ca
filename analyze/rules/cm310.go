package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm310 = Rule{Rule: cm310Doc, Check: checkCM310}

var cm310Doc = finding.Rule{
	ID: "CM310", Name: "FetchedContentRun", Title: "Execution of fetched content", Severity: finding.Critical, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever serves or changes the document runs commands on the user's machine.", Fix: "Never run what was fetched. Ship code with the package, or check a pinned digest or a signature first.", Preview: true},
	CWE:    []string{"CWE-494", "CWE-94"}, OWASP: []string{"MCP05"},
	Help: "A document that the server fetched held a line for a shell or a piece of code, and the server ran it: it piped a script into an interpreter, evaluated what it fetched, or took a command out of an answer. Whoever serves that document, or changes it on the way, runs code on the user's machine.\n\n" +
		"**Evidence.** The kernel's record of the program or of the file that the line makes. The document spells the name only in pieces, which a shell joins: who returns, stores or parses the document makes no such file. The sinkhole serves the line in pages, in scripts (`install.sh`, `.py`, `.js`), and as the value of members such as `command` that the server's code reads. Members that the code hands to `eval`, `exec`, `Function` or a context of `node:vm` get code, which makes the file within the server itself.\n\n" +
		"**False positive when** the tool's declared purpose is to run a script from an address that the user names, in words that the lexicon does not know; a tool that declares to run commands or code is silent.",
}

func checkCM310(r *Run) []finding.Finding {
	var out []finding.Finding
	hits := append(r.servedHits(session.ServedLine, profile.HitExec, profile.HitCreate), r.servedHits(session.ServedCode, profile.HitCreate)...)
	for _, h := range hits {
		if t := r.Scope.Tool(r.toolOf(h.Call)); h.Call > 0 && runsCommands(&t, "") {
			continue
		}
		out = append(out, r.ofServed(&cm310Doc, h, cm310Doc.Severity, "ran "+map[string]string{session.ServedLine: "a command", session.ServedCode: "code"}[h.Context]+" that stood in a document that it fetched, and "+did(h)))
	}
	return first(out)
}
