package run

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// maxSockets bounds the sockets that are kept of a run.
const maxSockets = 64

// sockets are those that a server bound, by the kernel's record. A kernel's list tells neither
// whose a unix socket is, nor a port that was bound from one that it drew for a question.
type sockets struct {
	// unix are paths, "@name" where abstract. ports were bound by their numbers, and drawn says
	// that one was bound by number 0.
	unix  []string
	ports []int
	drawn bool
}

func (s *sockets) record(rec *trace.Record) {
	if rec.Op != trace.OpBind || !rec.OK() || rec.Addr == nil {
		return
	}
	a := rec.Addr
	switch {
	case a.Family == "unix":
		absolute := strings.HasPrefix(a.Host, "/") || len(a.Host) > 1 && a.Host[0] == '@'
		if absolute && len(s.unix) < maxSockets && !slices.Contains(s.unix, a.Host) {
			s.unix = append(s.unix, a.Host)
		}
	case !strings.HasPrefix(a.Family, "inet"):
	case a.Port == 0:
		s.drawn = true
	case len(s.ports) < maxSockets && !slices.Contains(s.ports, a.Port):
		s.ports = append(s.ports, a.Port)
	}
}

// listeners are the sockets to be spoken to, of those that the server bound: those of TCP and of
// UDP that there are, and unix sockets.
func (s *sockets) listeners(tcp, udp []int, own int) []mux.Addr {
	var out []mux.Addr
	add := func(network string, ports []int, most int) {
		for _, p := range ports[:min(len(ports), most)] {
			out = append(out, mux.Addr{Net: network, Host: "localhost", Port: p})
		}
	}
	add("tcp", slices.DeleteFunc(slices.Clone(tcp), func(p int) bool { return p == own }), maxAsked)
	add("udp", slices.DeleteFunc(slices.Clone(udp), func(p int) bool { return !s.drawn && !slices.Contains(s.ports, p) }), maxAskedMore)
	for _, p := range s.unix[:min(len(s.unix), maxAskedMore)] {
		out = append(out, mux.Addr{Net: "unix", Host: p})
	}
	return out
}
