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
	Help: "The server tried to trace another process, to mount, to enter or make namespaces, to signal a process that is not its own, to install a system call filter, or to use a part of the kernel that no server needs and every sandbox here refuses: keyrings, `bpf`, `userfaultfd`, performance counters, kernel modules, file handles, calls of another architecture, and sockets of other families than unix, inet, inet6 and netlink's routes (`AF_VSOCK` reaches the hypervisor).\n\n" +
		"**Evidence.** The kernel's record of the call and its refusal, or the sandbox's own, which sees what it refuses. Namespaces, performance counters, `userfaultfd`, packets and other protocols of netlink are low, since browsers and libraries ask for them, and informational before the first message, when runtimes and libraries try what the kernel has. A filter, which is refused here, is informational. `io_uring`, which Node asks for at every start and which is refused as well, is listed among the effects and is no finding. A tool that declares to end processes may signal any.\n\n" +
		"**False positive when** the server is a debugger, captures packets, or starts a browser.",
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
		if severity := tamperSeverity(e); severity != "" {
			f.Severity = severity
		}
		out = append(out, f)
	}
	return first(out)
}

// probed are calls and sockets for which honest programs ask, each by the first words of its target.
var probed = []string{
	"unshare", "setns", "clone", "clone3", "perf_event_open", "userfaultfd", "i386", "x32", "arm",
	"socket AF_PACKET", "socket AF_ALG", "socket AF_BLUETOOTH", "socket AF_CAN", "socket AF_NETLINK",
}

// loudProbes are exceptions from probed: what speaks to the packet filter has no honest use in a server.
var loudProbes = []string{"socket AF_NETLINK NETLINK_NETFILTER", "socket AF_NETLINK NETLINK_XFRM"}

// tamperSeverity is the severity of an effect that is less than the rule's own, "" otherwise.
func tamperSeverity(e *finding.Effect) finding.Severity {
	begins := func(words string) bool { return e.Target == words || strings.HasPrefix(e.Target, words+" ") }
	switch {
	case begins("seccomp"), begins("prctl"):
		return finding.Info
	case slices.ContainsFunc(loudProbes, begins) || !slices.ContainsFunc(probed, begins):
		return ""
	case e.Call == 0 && e.Phase == finding.PhaseStart:
		return finding.Info
	}
	return finding.Low
}
