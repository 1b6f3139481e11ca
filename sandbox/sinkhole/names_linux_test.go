//go:build linux && e2e

package sinkhole

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

func TestDNSIsAnsweredWhereLowPortsNeedPrivilege(t *testing.T) {
	if !inside(t) {
		return
	}
	if err := writeSysctl("ipv4/ip_unprivileged_port_start", "1024"); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []uintptr{unix.MS_BIND, unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY} {
		if err := unix.Mount("/proc/sys", "/proc/sys", "", flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	j, _ := apart(t, Config{})
	for _, server := range []string{"1.1.1.1:53", "[2001:4860:4860::8888]:53"} {
		for _, name := range []string{"a.example", "odd.example"} {
			if r := ask(t, "udp", server, name, dns.TypeA); len(r.Answer) != 1 {
				t.Errorf("%s: %v", server, r)
			}
		}
	}
	if e, found := j.find(func(e Event) bool { return e.Type == TypeLoss }); found {
		t.Errorf("%+v", e)
	}
}

func TestDNSOverTLSAndHTTPS(t *testing.T) {
	if !inside(t) {
		return
	}
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	j := arm(t, Config{Authority: a})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.PEM())
	for _, server := range []string{"1.1.1.1:853", "[2620:fe::fe]:853"} {
		for _, alpn := range [][]string{nil, {"dot"}} {
			c := dns.Client{Net: "tcp-tls", Timeout: 5 * time.Second, TLSConfig: &tls.Config{RootCAs: pool, ServerName: "dns.example", NextProtos: alpn}}
			m := new(dns.Msg).SetQuestion("dot-"+strings.Join(alpn, "")+".example.", dns.TypeA)
			if r, _, err := c.Exchange(m, server); err != nil || len(r.Answer) != 1 {
				t.Errorf("%s %v: %v %v", server, alpn, r, err)
			}
		}
	}
	j.wait(t, "dot", func(e Event) bool {
		return e.Type == TypeQuery && e.App == "dot" && e.Host == "dot-.example" && e.SNI == "dns.example"
	})
	j.wait(t, "dot by ALPN", func(e Event) bool { return e.Type == TypeQuery && e.App == "dot" && e.Host == "dot-dot.example" })
	query := func(name string) []byte {
		b, _ := new(dns.Msg).SetQuestion(name+".", dns.TypeAAAA).Pack()
		return b
	}
	for _, h2 := range []bool{false, true} {
		c, app := client(t, pool, h2), map[bool]string{false: "http/1.1", true: "h2"}[h2]
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			name := "doh-" + strings.ToLower(method) + "-" + strings.ReplaceAll(app, "/1.1", "") + ".example"
			url, body := "https://resolver.example/dns-query", io.Reader(nil)
			if method == http.MethodGet {
				url += "?dns=" + base64.RawURLEncoding.EncodeToString(query(name))
			} else {
				body = bytes.NewReader(query(name))
			}
			r, _ := http.NewRequest(method, url, body)
			r.Header.Set("Accept", dnsMessage)
			if body != nil {
				r.Header.Set("Content-Type", dnsMessage)
			}
			resp, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			m := new(dns.Msg)
			if err := m.Unpack(got); err != nil || len(m.Answer) != 1 || resp.Header.Get("Content-Type") != dnsMessage || resp.ProtoMajor != map[bool]int{false: 1, true: 2}[h2] {
				t.Errorf("%s: %s %q %v", name, resp.Proto, got, err)
				continue
			}
			e := j.wait(t, name, func(e Event) bool { return e.Type == TypeQuery && e.Host == name })
			if e.App != "doh" || !e.TLS || e.Method != "AAAA" {
				t.Errorf("%+v", e)
			}
			// The address given leads to the name.
			addr := m.Answer[0].(*dns.AAAA).AAAA.String()
			_, _ = io.WriteString(dial(t, "tcp", net.JoinHostPort(addr, "4444")), "by "+name)
			if e := j.wait(t, "by "+name, func(e Event) bool { return string(e.Data) == "by "+name }); e.Host != name {
				t.Errorf("%+v", e)
			}
		}
	}
}

// A client that ends TLS in silence is opaque only where it may have refused.
func TestSilenceAfterTheHandshake(t *testing.T) {
	if !inside(t) {
		return
	}
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	j := arm(t, Config{Authority: a})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.PEM())
	for name, c := range map[string]struct {
		config *tls.Config
		stay   time.Duration
		say    string
		opaque bool
	}{
		"refused.example": {&tls.Config{RootCAs: x509.NewCertPool()}, 0, "", true},
		"late.example":    {&tls.Config{InsecureSkipVerify: true}, 0, "", true}, // as Node does: it looks afterwards
		"idle.example":    {&tls.Config{RootCAs: pool}, doubt + 100*time.Millisecond, "", false},
		"spoke.example":   {&tls.Config{RootCAs: pool}, 0, "something", false},
		"old.example":     {&tls.Config{RootCAs: x509.NewCertPool(), MaxVersion: tls.VersionTLS12}, 0, "", true},
	} {
		c.config.ServerName = name
		raw := dial(t, "tcp", "93.184.216.34:8443")
		conn := tls.Client(raw, c.config)
		if err := conn.Handshake(); err == nil {
			done := now()
			if _, err := io.WriteString(conn, c.say); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(c.stay))
			if n, err := conn.Read(make([]byte, 1)); c.stay > 0 && (n > 0 || now()-done < c.stay) {
				t.Errorf("%s: %v", name, err) // reading is the wait
			}
		}
		raw.Close()
		e := j.wait(t, name, func(e Event) bool { return e.Type == TypeClose && e.SNI == name })
		if e.Opaque != c.opaque {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
