package sinkhole

import (
	"context"
	"net"
	"net/netip"
	"testing"
)

func TestServicesAreNear(t *testing.T) {
	t.Parallel()
	s := &server{cfg: Config{
		Services: []Service{{Name: "postgres", Port: 5432}},
		Dial:     func(context.Context, string, string, int) (net.Conn, error) { return nil, net.ErrClosed },
	}}
	for _, c := range []struct{ proto, to, host, want string }{
		{"tcp", "127.0.0.1:5432", "", "postgres"}, {"tcp", "[::1]:5432", "", "postgres"}, {"tcp", "192.168.1.24:5432", "", "postgres"}, {"tcp", "10.3.2.1:5432", "", "postgres"},
		{"tcp", "198.18.0.7:5432", "db", "postgres"}, {"tcp", "198.18.0.7:5432", "db.", "postgres"}, {"tcp", "198.18.0.7:5432", "db.example.com", ""}, {"tcp", "8.8.8.8:5432", "", ""},
		{"tcp", "127.0.0.1:5433", "", ""}, {"udp", "127.0.0.1:5432", "", ""},
	} {
		if got := s.serviceAt(TypeOpen, c.proto, netip.MustParseAddrPort(c.to), c.host); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := s.serviceAt(TypeRefused, "tcp", netip.MustParseAddrPort("127.0.0.1:5432"), ""); got != "" {
		t.Errorf("a refused connection leads to %q", got)
	}
}
