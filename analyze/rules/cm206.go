package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm206 = Rule{Rule: cm206Doc, Check: checkCM206}

var cm206Doc = finding.Rule{
	ID: "CM206", Name: "SandboxTampering", Title: "The server reached for other processes or the kernel", Severity: finding.Medium,
	CWE: []string{"CWE-269", "CWE-693"}, OWASP: []string{"MCP02"},
	Help: "The server tried to trace another process, to mount, to enter or make namespaces, to signal a process that is not its own, or to install a system call filter.\n\n" +
		"**Evidence.** The kernel's record of the call and its refusal. Namespaces are low, since browsers make them for their own sandbox; `seccomp`, which is refused here, is informational; `io_uring`, which Node asks for at every start and which is refused as well, is listed among the effects and is no finding. A tool that declares to end processes may signal any.\n\n" +
		"**False positive when** the server is a debugger or starts a browser.",
}

// endingWords declare that a tool ends processes.
var endingWords = []string{"kill", "kills", "terminate", "terminates", "signal", "signals"}

func checkCM206(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Tamper) {
		if strings.HasPrefix(e.Target, "io_uring_") {
			continue
		}
		t := r.Scope.Tool(e.Tool)
		if e.Call > 0 && e.Target == "kill" && slices.ContainsFunc(endingWords, t.Says) {
			continue
		}
		f := r.of(&cm206Doc, e, subject(e)+" called "+e.Target)
		switch e.Target {
		case "unshare", "setns":
			f.Severity = finding.Low
		case "seccomp":
			f.Severity = finding.Info
		}
		out = append(out, f)
	}
	return first(out)
}
