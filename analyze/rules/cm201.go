package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm201 = Rule{Rule: cm201Doc, Check: checkCM201}

var cm201Doc = finding.Rule{
	ID: "CM201", Name: "WriteDespiteReadOnly", Title: "A read-only tool changed the file system", Severity: finding.Medium,
	CWE: []string{"CWE-284", "CWE-732"}, OWASP: []string{"MCP02"},
	Help: "A tool that is annotated `readOnlyHint: true` created, wrote, renamed or deleted something outside temporary and cache directories.\n\n" +
		"**Evidence.** The kernel's record of the change with the real path. Work that could belong to another call is low, and so is a change that was refused. All changes of a tool are one finding.\n\n" +
		"**False positive when** the file is a cache that the server keeps outside the usual places.",
}

func checkCM201(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for _, e := range r.effects(finding.FileWrite, finding.FileDelete, finding.FileMeta) {
		t := r.Scope.Tool(e.Tool)
		if e.Call == 0 || !t.ClaimsReadOnly() {
			continue
		}
		f := r.of(&cm201Doc, e, "")
		if e.Ambiguous || e.Rung == finding.RungAttempted {
			f.Severity = finding.Low
		}
		out = append(out, f)
		targets = append(targets, r.stable(e.Target))
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		return "“" + f.Tool + "” declares readOnlyHint=true and changed " + list(targets, 3)
	})
}
