package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm320 = Rule{Rule: cm320Doc, Check: checkCM320}

var cm320Doc = finding.Rule{
	ID: "CM320", Name: "UntrustedSearchPath", Title: "Untrusted search path", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "A file with the name of a module, in a repository that the user only wants to look at, runs.", Fix: "Start Python with -I or -P, or in a directory of the server's own.", Preview: true},
	CWE:    []string{"CWE-426", "CWE-427"}, OWASP: []string{"MCP05"},
	Help: "In a call, the server started Python with `-m`, `-c` or a program on its stdin in a directory of the workspace that the call led to: Python looks for modules in that directory first. A declaration promises that nothing there is run, or to read only.\n\n" +
		"**Evidence.** The kernel's record of the exec, with its directory.\n\n" +
		"Quiet for tools that declare to run code, commands or tests. **False positive when** the environment has PYTHONSAFEPATH.",
}

// runsNothing are promises that what stands in a project is not run.
var runsNothing = lazyregexp.New(`(?i)\b(?:nothing|none|no (?:code|file|script|part)s?)\b[^.]{0,60}\b(?:is|are|gets|be)\b[^.]{0,20}\b(?:executed|run|evaluated|imported)\b` +
	`|\b(?:does not|doesn't|do not|never|not|without)\b[^.]{0,30}\b(?:execut\w+|run|runs|running|evaluat\w+|import\w*)\b[^.]{0,40}\b(?:code|projects?|files?|repositor\w+|scripts?|them|anything)\b`)

func checkCM320(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Exec) {
		inside := func(w string) bool { return e.LoadsFrom != w && within(e.LoadsFrom, w) }
		if e.LoadsFrom == "" || e.Call == 0 || !slices.ContainsFunc(r.Workspaces, inside) {
			continue
		}
		t, promised := r.Scope.Tool(e.Tool), r.promises(runsNothing, serverOr(e.Tool))
		if runsCommands(&t, "") || !promised && !t.ClaimsReadOnly() {
			continue
		}
		f := r.of(&cm320Doc, e, "")
		f.Message = "“" + text.Printable(e.Tool, 80) + "” started " + r.stable(e.Target) + " in " + r.stable(e.LoadsFrom) + ", where Python looks for modules first: untrusted search path"
		f.Fingerprint = finding.Fingerprint(cm320Doc.ID, e.Tool)
		if !promised {
			f.Severity = finding.Medium
		}
		out = append(out, f)
	}
	return first(out)
}
