package run

import (
	"reflect"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Of what the kernel lists, what the server bound is spoken to, within bounds.
func TestListenersThatAreSpokenTo(t *testing.T) {
	t.Parallel()
	bind := func(family, host string, port int) trace.Record {
		return trace.Record{Op: trace.OpBind, Addr: &trace.Addr{Family: family, Host: host, Port: port}}
	}
	failed := bind("unix", "/tmp/failed", 0)
	failed.Err = "EADDRINUSE"
	tcp := func(p int) mux.Addr { return mux.Addr{Net: "tcp", Host: "localhost", Port: p} }
	udp := func(p int) mux.Addr { return mux.Addr{Net: "udp", Host: "localhost", Port: p} }
	at := func(p string) mux.Addr { return mux.Addr{Net: "unix", Host: p} }
	for name, c := range map[string]struct {
		binds    []trace.Record
		tcp, udp []int
		want     []mux.Addr
	}{
		"nothing":       {},
		"tcp, not own":  {nil, []int{80, 8080}, nil, []mux.Addr{tcp(80)}},
		"udp, bound":    {[]trace.Record{bind("inet", "127.0.0.1", 5353)}, nil, []int{5353, 40000}, []mux.Addr{udp(5353)}},
		"udp, drawn":    {[]trace.Record{bind("inet6", "::", 0)}, nil, []int{40000}, []mux.Addr{udp(40000)}},
		"a question":    {nil, nil, []int{40000}, nil},
		"unix":          {[]trace.Record{bind("unix", "/tmp/a", 0), bind("unix", "@b", 0), bind("unix", "/tmp/a", 0), failed}, nil, nil, []mux.Addr{at("/tmp/a"), at("@b")}},
		"without name":  {[]trace.Record{bind("unix", "", 0), bind("unix", "@", 0), bind("unix", "here.sock", 0), bind("netlink", "", 0)}, nil, []int{1}, nil},
		"more than few": {nil, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, nil, []mux.Addr{tcp(1), tcp(2), tcp(3), tcp(4), tcp(5), tcp(6), tcp(7), tcp(8)}},
	} {
		var s sockets
		for i := range c.binds {
			s.record(&c.binds[i])
		}
		if got := s.listeners(c.tcp, c.udp, 8080); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
