package sinkhole

import (
	"net/netip"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/dialect"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// serviceAt is the name of the service that a connection leads to, "" for none.
func (s *server) serviceAt(as, proto string, dst netip.AddrPort, host string) string {
	if as != TypeOpen || proto != "tcp" || s.cfg.Dial == nil {
		return ""
	}
	a, own := dst.Addr(), s.cfg.own()
	near := a.IsLoopback() || a == own[0] || a == own[1] || a.IsPrivate() && host == "" || host != "" && !strings.Contains(strings.TrimSuffix(host, "."), ".")
	for _, v := range s.cfg.Services {
		if near && v.Port == dst.Port() {
			return v.Name
		}
	}
	return ""
}

// listener hears both sides of a relayed connection.
type listener interface {
	Client(p []byte, at time.Duration)
	Server(p []byte)
	Close()
}

// dialectOf follows what a flow to a service says; of any other it hears nothing.
func (s *server) dialectOf(f *flow) listener {
	r := dialect.New(f.known.Service, func(st trace.Statement) {
		f.report(Event{Type: TypeStatement, App: f.known.Service, Statement: &st})
	}, func(why string) {
		f.learn(func(e *Event) { e.Opaque = true })
		f.fail("what was said to the service could not be followed: " + why)
	})
	if r == nil {
		return deaf{}
	}
	f.learn(func(e *Event) { e.App = f.known.Service })
	return r
}

// deaf is a listener that hears nothing.
type deaf struct{}

// Client implements listener.
func (deaf) Client([]byte, time.Duration) {}

// Server implements listener.
func (deaf) Server([]byte) {}

// Close implements listener.
func (deaf) Close() {}
