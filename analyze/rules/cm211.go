package rules

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm211 = Rule{Rule: cm211Doc, Check: checkCM211}

var cm211Doc = finding.Rule{
	ID: "CM211", Name: "OpenListener", Title: "Undeclared network listener", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Other programs, web pages or machines can talk to this port.", Fix: "Listen on a Unix socket or on loopback with authentication, and declare the port."},
	CWE:    []string{"CWE-668", "CWE-1327"}, OWASP: []string{"MCP02"},
	Help: "The server bound a port on which others may speak to it: on an address that is not loopback its neighbours on the network, on loopback every program and every page of a browser on the machine.\n\n" +
		"**Evidence.** The kernel's record of the bind. Port 0 is one that the kernel draws, and counts once the socket listens. Beyond loopback it is high, and low where the tool or the server says that it listens or serves (medium where every tool promises in words to work without a network). " +
		"On loopback it is medium, and quiet where a declaration says that it serves, previews or waits for a browser. A probe speaks to each such port of TCP and UDP, and to unix sockets that the server bound: it asks for a page, sends a line that a shell would run, and asks for the routes of the server's source. Critical is a server that ran it; what else it does and answers then is judged as a call. A named pipe to which everyone on the machine may write is high. That there is a unix socket is quiet, and so are the port over which a server on HTTP is probed and a socket that is connected to a peer, as a resolver's is.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says that it listens.",
}

// Words by which a tool or a server says that others may speak to it.
var (
	listenWords   = []string{"listen", "listens", "listening", "listener", "port", "ports", "serve", "serves", "serving", "daemon", "multicast", "mdns", "bonjour", "zeroconf", "ssdp", "upnp", "broadcast", "broadcasts", "dhcp", "peers"}
	loopbackWords = []string{"http", "localhost", "loopback", "websocket", "preview", "previews", "dashboard", "browser", "callback", "oauth", "login", "proxy", "webhook", "webhooks", "debug", "debugger", "kernel", "jupyter", "socket", "ipc", "rpc", "workers", "worker"}
)

// openPipe begins the target of a listener that is a named pipe to which everyone may write.
const openPipe = "pipe:"

// pipeWords are by which a tool or a server says that others may write to a pipe of its.
var pipeWords = slices.Concat(listenWords, loopbackWords, []string{"pipe", "pipes", "fifo"})

func checkCM211(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.NetListen) {
		if name, ok := strings.CutPrefix(e.Target, openPipe); ok && !r.says(e.Tool, pipeWords) {
			out = append(out, r.of(&cm211Doc, e, subject(e)+" takes what every user of the machine writes to the named pipe "+r.stable(name)))
			continue
		}
		a, err := netip.ParseAddrPort(e.Target)
		if err != nil || a.Port() != 0 && int(a.Port()) == r.Port {
			continue
		}
		declared := r.says(e.Tool, listenWords)
		f := r.of(&cm211Doc, e, subject(e)+" listens on "+e.Target)
		switch {
		case a.Addr().IsLoopback() && (declared || r.says(e.Tool, loopbackWords) || r.Port != 0):
			continue
		case a.Addr().IsLoopback():
			f.Severity = finding.Medium
		case declared && r.promisedOffline() != nil:
			f.Severity = finding.Medium // a mention takes no promise back
		case declared:
			f.Severity = finding.Low
		}
		out = append(out, f)
	}
	return first(append(out, r.openShell()...))
}

// openShell are the commands that came over a port or socket of the server's and that it ran.
func (r *Run) openShell() []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Exec) {
		if e.Tool != session.ListenerTool || strings.TrimSpace(shellText(e.Argv)) != session.ListenerLine && path.Base(e.Target) != session.ListenerLine {
			continue
		}
		f := r.of(&cm211Doc, e, "the server ran a command that came over a port or socket that it opened: "+session.ListenerLine)
		f.Severity, f.Fingerprint = finding.Critical, finding.Fingerprint(cm211Doc.ID, "command")
		out = append(out, f)
	}
	return out
}
