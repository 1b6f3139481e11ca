package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm206 = Rule{Rule: cm206Doc, Check: checkCM206}

var cm206Doc = finding.Rule{
	ID: "CM206", Name: "SandboxTampering", Title: "Access to other processes or the kernel", Severity: finding.Medium, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "This access is a step towards leaving the sandbox or controlling other processes.", Fix: "Remove the call. If the server starts a browser or a debugger, say so in the description."},
	CWE:    []string{"CWE-269", "CWE-693"}, OWASP: []string{"MCP02"},
	Help: "The server tried to trace another process, to mount, to leave its root directory, to make a device, to become another user, to enter or make namespaces, to signal or bound a process that is not its own, to go through its directories in `/proc`, to change the kernel's settings, to install a system call filter, or to use a part of the kernel that no server needs and every sandbox here refuses: keyrings, `bpf`, `userfaultfd`, performance counters, kernel modules, file handles, calls of another architecture, and sockets of other families than unix, inet, inet6 and netlink's routes (`AF_VSOCK` reaches the hypervisor).\n\n" +
		"**Evidence.** The kernel's record of the call and its refusal, or the sandbox's own, which sees what it refuses. " +
		"Namespaces, raw packets and what is another process's are low where the tool or the server says what needs them, such as a browser, a sandbox, packets or processes. " +
		"Calls of another architecture and sockets for hardware, ciphers and netlink are low, since libraries ask for them. Namespaces, performance counters, `userfaultfd`, and those that are low, are informational before the first message, when runtimes and libraries try what the kernel has. A filter, which is refused here, is informational. `io_uring`, which Node asks for at every start and which is refused as well, is listed among the effects and is not a finding. A tool that declares to end processes may signal any.\n\n" +
		"**False positive when** the server is a debugger, or starts a browser and does not say so.",
}

// Words by which a tool or a server says that it needs what others have no use for.
var (
	// endingWords are of those that end processes.
	endingWords = []string{"kill", "kills", "terminate", "terminates", "signal", "signals"}
	// isolatingWords are of those that start programs with a sandbox of their own.
	isolatingWords = []string{
		"browser", "browsers", "chrome", "chromium", "firefox", "webkit", "puppeteer", "playwright", "electron", "headless", "screenshot", "screenshots",
		"webpage", "webpages", "render", "renders", "rendered", "pdf", "sandbox", "sandboxed", "container", "containers", "isolated", "isolation",
	}
	packetWords  = []string{"ping", "icmp", "traceroute", "packet", "packets", "sniff", "capture", "scan", "nmap", "arp"}
	processWords = []string{"process", "processes", "debugger"}
)

// attempt says how grave attempts are.
type attempt struct {
	// targets are the first words of effects' targets.
	targets []string
	// severity holds but before the first message, where atStart does. Empty ones are the rule's own.
	severity, atStart finding.Severity
	// words make it low where a tool or the server says one of them.
	words []string
}

// attempts are those that are not simply as grave as the rule says. The first that fits counts.
var attempts = []attempt{
	{targets: []string{"seccomp", "prctl"}, severity: finding.Info, atStart: finding.Info},
	// What speaks to the packet filter has no honest use in a server.
	{targets: []string{"socket AF_NETLINK NETLINK_NETFILTER", "socket AF_NETLINK NETLINK_XFRM"}},
	{targets: []string{"socket AF_ALG", "socket AF_BLUETOOTH", "socket AF_CAN", "socket AF_NETLINK"}, severity: finding.Low, atStart: finding.Info},
	// Calls by another architecture's numbers hide from tracers; a program of that architecture makes them from its start.
	{targets: []string{"i386", "x32", "arm"}, severity: finding.Medium, atStart: finding.Low},
	{targets: []string{"unshare", "setns", "clone", "clone3"}, atStart: finding.Info, words: isolatingWords},
	{targets: []string{"socket AF_PACKET", "socket SOCK_RAW"}, atStart: finding.Info, words: packetWords},
	{targets: []string{"perf_event_open", "userfaultfd"}, atStart: finding.Info},
	{targets: []string{"/proc/PID", "/proc/PID/root", "/proc/PID/cwd", "/proc/PID/fd", "/proc/PID/ns", "/proc/PID/map_files", "prlimit64"}, words: processWords},
}

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
		verb := " called "
		if path.IsAbs(e.Target) {
			verb = " accessed "
		}
		f := r.of(&cm206Doc, e, subject(e)+verb+e.Target)
		if severity := r.attemptSeverity(e); severity != "" {
			f.Severity = severity
		}
		out = append(out, f)
	}
	return first(out)
}

// attemptSeverity is the severity of an attempt that is less than the rule's own, "" otherwise.
func (r *Run) attemptSeverity(e *finding.Effect) finding.Severity {
	begins := func(words string) bool { return e.Target == words || strings.HasPrefix(e.Target, words+" ") }
	i := slices.IndexFunc(attempts, func(a attempt) bool { return slices.ContainsFunc(a.targets, begins) })
	if i < 0 {
		return ""
	}
	a := attempts[i]
	switch {
	case e.Call == 0 && e.Phase == finding.PhaseStart && a.atStart != "":
		return a.atStart
	case r.says(e.Tool, a.words):
		return finding.Low
	}
	return a.severity
}
