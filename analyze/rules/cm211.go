package rules

import (
	"net/netip"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm211 = Rule{Rule: cm211Doc, Check: checkCM211}

var cm211Doc = finding.Rule{
	ID: "CM211", Name: "OpenListener", Title: "The server listens beyond loopback", Severity: finding.Medium,
	CWE: []string{"CWE-668", "CWE-1327"}, OWASP: []string{"MCP02"},
	Help: "The server bound a port on an address that is not loopback: on a real machine its neighbours on the network could reach it.\n\n" +
		"**Evidence.** The kernel's record of the bind. Port 0 and unix sockets are quiet, and so are the port over which a server on HTTP is probed and a socket that is connected to a peer, as a resolver's is.\n\n" +
		"**False positive when** serving the network is the declared purpose.",
}

func checkCM211(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.NetListen) {
		a, err := netip.ParseAddrPort(e.Target)
		if err != nil || a.Addr().IsLoopback() || int(a.Port()) == r.Port {
			continue
		}
		out = append(out, r.of(&cm211Doc, e, subject(e)+" listens on "+e.Target))
	}
	return first(out)
}
