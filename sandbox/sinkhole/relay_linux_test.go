//go:build linux && e2e

package sinkhole

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// beyond dials hosts of the test's own, on loopback, and counts.
type beyond struct {
	mu    sync.Mutex
	asked []string
	to    map[string]string
}

func (b *beyond) dial(ctx context.Context, network, host string, port int) (net.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, fmt.Sprintf("%s %s %d", network, host, port))
	addr, ok := b.to[fmt.Sprint(network, port)]
	if !ok {
		return nil, errors.New("no such host")
	}
	var d net.Dialer
	return d.DialContext(ctx, network, addr)
}

func TestAllowedHostsAreReached(t *testing.T) {
	if !inside(t) {
		return
	}
	b := &beyond{to: map[string]string{}}
	j := arm(t, Config{Allow: []string{"real.example"}, Dial: b.dial})
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "truly %s of %d", r.Host, len(body))
	})
	plain, shut := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer shut.Close()
	datagrams, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	go func() {
		p := make([]byte, 100)
		for {
			n, from, err := datagrams.ReadFrom(p)
			if err != nil {
				return
			}
			_, _ = datagrams.WriteTo([]byte("echo "+string(p[:n])), from)
		}
	}()
	b.mu.Lock()
	b.to["tcp80"], b.to["tcp443"], b.to["udp9999"] = plain.Listener.Addr().String(), shut.Listener.Addr().String(), datagrams.LocalAddr().String()
	b.mu.Unlock()

	c := client(t, nil, false)
	get := func(url, body string) string {
		resp, err := c.Post(url, "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, _ := io.ReadAll(resp.Body)
		return string(got)
	}
	big := strings.Repeat("secret", 300<<10)
	if got, want := get("http://real.example/a", big), fmt.Sprint("truly real.example of ", len(big)); got != want {
		t.Errorf("%q", got)
	}
	if got := get("http://other.example/b", "kept here"); strings.Contains(got, "truly") {
		t.Errorf("a host not allowed was reached: %q", got)
	}
	pool := x509.NewCertPool()
	pool.AddCert(shut.Certificate())
	c.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool, ServerName: "example.com"}
	if got := get("https://real.example/c", "unreadable"); got != "truly real.example of 10" {
		t.Errorf("%q", got)
	}
	addr := ask(t, "udp", "8.8.8.8:53", "real.example", dns.TypeA).Answer[0].(*dns.A).A.String()
	u := dial(t, "udp", addr+":9999")
	for _, word := range []string{"one", "two"} {
		fmt.Fprint(u, word)
		p := make([]byte, 100)
		if n, err := u.Read(p); err != nil || string(p[:n]) != "echo "+word {
			t.Errorf("%q %v", p[:n], err)
		}
	}
	// Where the host cannot be reached, the connection ends.
	if unreached, err := net.Dial("tcp", addr+":81"); err == nil { // the reset may come a moment later
		if _, err := io.ReadAll(unreached); err == nil {
			t.Error("an unreachable host's connection ended well")
		}
		unreached.Close()
	}
	c.CloseIdleConnections()
	first := j.wait(t, "the first", func(e Event) bool { return e.Type == TypeClose && e.Allowed && e.Dest.Port() == 80 })
	if first.Up < int64(len(big)) || !first.Cut || first.Kept != 1<<20 || first.Down == 0 || first.App != "http/1.1" || first.Opaque {
		t.Errorf("%+v", first)
	}
	if d := j.data(first.Flow, ViewWire); !strings.HasPrefix(d, "POST /a HTTP/1.1\r\n") {
		t.Errorf("kept %.80q", d)
	}
	e := j.wait(t, "tls", func(e Event) bool { return e.Type == TypeTLS && e.Allowed })
	if e.SNI != "example.com" || !e.Opaque || e.Host != "real.example" {
		t.Errorf("%+v", e)
	}
	if e := j.wait(t, "unreached", func(e Event) bool { return e.Type == TypeClose && e.Dest.Port() == 81 }); !strings.Contains(e.Error, "no such host") {
		t.Errorf("%+v", e)
	}
	if e := j.closed(t, "kept here"); e.Allowed {
		t.Errorf("%+v", e)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.asked {
		if !strings.Contains(a, " real.example ") {
			t.Errorf("dialled %s", a)
		}
	}
}
