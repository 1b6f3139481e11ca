package egress

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// asking is an agent's side whose host is the dialer.
func asking(t *testing.T, d *Dialer) *mux.Endpoint {
	t.Helper()
	host, agent := mux.NewHost(d.Serve), mux.NewAgent(func() time.Duration { return 0 }, nil)
	var wg sync.WaitGroup
	pass := func(from, to *mux.Endpoint) {
		r, w := io.Pipe()
		wg.Go(func() {
			defer w.Close()
			_ = from.Send(mux.NewWriter(w))
		})
		wg.Go(func() {
			m := mux.NewReader(r)
			for {
				f, err := m.Next()
				if err != nil {
					return
				}
				if err := to.Take(f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	pass(host, agent)
	pass(agent, host)
	t.Cleanup(func() {
		agent.Close(errors.New("the test is over"))
		host.Close(errors.New("the test is over"))
		wg.Wait()
	})
	return agent
}

// What is not on the list is refused, and recorded.
func TestServeRefuses(t *testing.T) {
	for _, c := range []struct {
		addr           mux.Addr
		reason, record string
	}{
		{mux.Addr{Net: "tcp", Host: "other.example.org", Port: 80}, errUnnamed.Error(), errUnnamed.Error()},
		{mux.Addr{Net: "tcp", Host: "localhost", Port: 53}, errUnnamed.Error(), "port 53"},
		{mux.Addr{Net: "udp", Host: "\xff\xfe", Port: 80}, errUnnamed.Error(), errUnnamed.Error()},
	} {
		d := NewDialer([]string{"localhost", "*.example.com"})
		_, err := asking(t, d).Open(context.Background(), c.addr)
		var reset *mux.ResetError
		if !errors.As(err, &reset) || reset.Reason != c.reason {
			t.Errorf("%v: %v, want %q", c.addr, err, c.reason)
		}
		for len(d.Reached()) == 0 { // it is recorded after who asked was told
			runtime.Gosched()
		}
		if r := d.Reached()[0]; !strings.Contains(r.Err, c.record) || r.Port != c.addr.Port || strings.ContainsRune(r.Host, 0xff) {
			t.Errorf("%v: recorded %+v, want %q", c.addr, r, c.record)
		}
	}
}

func TestDialsAreCounted(t *testing.T) {
	d := NewDialer(nil)
	d.dials = maxDials
	_, err := asking(t, d).Open(context.Background(), mux.Addr{Net: "tcp", Host: "a", Port: 80})
	if err == nil || !strings.Contains(err.Error(), "more than 10000 connections") {
		t.Errorf("error %v", err)
	}
	d.spent = maxBytes
	if err := d.spend(1); err == nil {
		t.Error("bytes without end")
	}
}

func TestCheck(t *testing.T) {
	allow := []string{"api.example.com", "*.example.net"}
	for _, c := range []struct {
		network, host string
		port          int
		ok            bool
	}{
		{"tcp", "api.example.com", 443, true}, {"udp", "API.Example.com.", 443, true}, {"tcp", "a.b.example.net", 80, true},
		{"tcp", "example.net", 80, false}, {"tcp", "api.example.com.evil.org", 443, false}, {"tcp", "93.184.216.34", 80, false},
		{"tcp", "", 80, false}, {"tcp", "api.example.com", 0, false}, {"tcp", "api.example.com", 65536, false},
		{"tcp", "api.example.com", 53, false}, {"unix", "api.example.com", 80, false}, {"tcp", "a b.example.net", 80, false},
		{"tcp", "a\nb.example.net", 80, false}, {"tcp", strings.Repeat("a.", 150) + "example.net", 80, false}, {"tcp", "localhost", 80, false},
	} {
		if err := check(allow, mux.Addr{Net: c.network, Host: c.host, Port: c.port}); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPublic(t *testing.T) {
	for _, a := range []string{"93.184.216.34", "1.1.1.1", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34"} {
		if !Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is not", a)
		}
	}
	for _, a := range []string{
		"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.100.100.200",
		"169.254.169.254", "192.0.0.192", "192.0.2.1", "198.18.0.1", "224.0.0.251", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fd00:ec2::254", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001::1", "2001:db8::1", "::127.0.0.1", "100::1", "2606::1%lo",
	} {
		if Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is", a)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("the zero address is")
	}
}
