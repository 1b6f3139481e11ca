package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm213 = Rule{Rule: cm213Doc, Check: checkCM213}

var cm213Doc = finding.Rule{
	ID: "CM213", Name: "RepeatDoesMore", Title: "Repeated call of an idempotent tool changed more", Severity: finding.Low, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "A client repeats an idempotent call after a lost response, and each repetition changes more.", Fix: "Make the call idempotent, or set idempotentHint to false."},
	CWE:    []string{"CWE-684"}, OWASP: []string{"MCP02"},
	Help: "A tool that is annotated `idempotentHint: true` was called twice in a row with the same arguments, and the second call made, wrote or deleted a file that the first had not touched: a client that repeats a call after a lost answer changes something again.\n\n" +
		"**Evidence.** The kernel's records of both calls, each of which succeeded. What a call makes and takes away again, scratch files and caches do not count, nor does a file that grows at each call. By the specification the hint means nothing where `readOnlyHint` is true; CM201 then speaks.\n\n" +
		"**False positive when** the file is a log or a backup that is named after the moment.",
}

func checkCM213(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for _, again := range r.Profile.Repeats() {
		t := r.Scope.Tool(again.Tool)
		if t.Idempotent == nil || !*t.Idempotent || t.ClaimsReadOnly() {
			continue
		}
		for i := range again.More {
			out = append(out, r.of(&cm213Doc, &again.More[i], ""))
			targets = append(targets, r.stable(again.More[i].Target))
		}
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		return "“" + f.Tool + "” declares idempotentHint=true and changed " + list(targets, 3) + " when the same call was repeated"
	})
}
