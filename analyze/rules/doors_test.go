package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// open is a server that is probed over a port on an address, and of which a fact was seen.
func open(what session.RemoteFact, port int, address string) *Run {
	r := newRun(note, effect("", finding.NetListen, address, func(e *finding.Effect) { e.Phase, e.Call, e.Tool = finding.PhaseStart, 0, "" }))
	r.Port = 3000
	r.Remote = []RemoteFact{{What: what, Port: port, Fact: Fact{Tool: "port 3000", Text: "as it was seen"}}}
	return r
}

// ofPorts are the cases of the rules about ports that a server in a sandbox opens.
var ofPorts = []ruleCase{
	{"CM219", "its own port, all addresses", open(session.PortNoAuthorization, 3000, "0.0.0.0:3000"), finding.High},
	{"CM219", "its own port, all addresses of IPv6", open(session.PortNoAuthorization, 3000, "[::]:3000"), finding.High},
	{"CM219", "its own drawn port", open(session.PortNoAuthorization, 3000, "0.0.0.0:0"), finding.High},
	{"CM219", "loopback", open(session.PortNoAuthorization, 3000, "127.0.0.1:3000"), ""},
	{"CM219", "loopback first, then all addresses", with(open(session.PortNoAuthorization, 3000, "127.0.0.1:3000"), func(r *Run) {
		r.Profile.Effects = append(r.Profile.Effects, effect("", finding.NetListen, "0.0.0.0:3000"))
	}), finding.High},
	{"CM219", "another port", open(session.PortNoAuthorization, 3001, "0.0.0.0:3001"), finding.Medium},
	{"CM219", "a port that nobody bound", open(session.PortNoAuthorization, 3001, "0.0.0.0:3002"), ""},
	{"CM219", "as it was told", with(open(session.PortNoAuthorization, 3000, "0.0.0.0:3000"), func(r *Run) { r.Given = []string{"--host=0.0.0.0"} }), finding.Low},
	{"CM219", "as it was told, with the port", with(open(session.PortNoAuthorization, 3000, "0.0.0.0:3000"), func(r *Run) { r.Given = []string{"0.0.0.0:3000"} }), finding.Low},
	{"CM219", "told of loopback", with(open(session.PortNoAuthorization, 3000, "0.0.0.0:3000"), func(r *Run) { r.Given = []string{"127.0.0.1", "--port", "3000"} }), finding.High},
	{"CM219", "an image", with(open(session.PortNoAuthorization, 3000, "0.0.0.0:3000"), func(r *Run) { r.Image = true }), finding.Low},
	{"CM219", "credentials are asked for", open(session.RemoteOrigin, 3000, "0.0.0.0:3000"), ""},
	{"CM703", "its own port", open(session.RemoteRebinding, 3000, "127.0.0.1:3000"), finding.High},
	{"CM703", "another port", open(session.PortRebinding, 3001, "127.0.0.1:3001"), finding.Medium},
	{"CM703", "another port, any origin", open(session.PortCORS, 3001, "127.0.0.1:3001"), finding.Medium},
}
