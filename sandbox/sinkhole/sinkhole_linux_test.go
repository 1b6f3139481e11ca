//go:build linux && e2e

package sinkhole

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func dial(t testing.TB, network, addr string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout(network, addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	return c
}

func ask(t testing.TB, network, server, name string, typ uint16) *dns.Msg {
	t.Helper()
	c := dns.Client{Net: network, Timeout: 5 * time.Second}
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), typ)
	r, _, err := c.Exchange(m, server)
	if err != nil {
		t.Fatalf("ask %s for %s: %v", server, name, err)
	}
	return r
}

// client resolves names through the sinkhole and trusts what pool holds.
func client(t testing.TB, pool *x509.CertPool, h2 bool) *http.Client {
	dialer := net.Dialer{Timeout: 5 * time.Second, Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, "8.8.8.8:53")
	}}}
	tr := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2, TLSHandshakeTimeout: 5 * time.Second}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

func TestRawTCPIsKept(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{})
	for network, addr := range map[string]string{"tcp4": "93.184.216.34:4444", "tcp6": "[2606:2800:220:1::1]:8081"} {
		c := dial(t, network, addr)
		if got := c.RemoteAddr().String(); got != addr {
			t.Errorf("connected to %s", got)
		}
		text := "secret for " + network
		fmt.Fprint(c, text)
		c.Close()
		e := j.closed(t, text)
		if e.Dest.String() != addr || e.Up != int64(len(text)) || e.Host != "" || e.Error != "" {
			t.Errorf("closed as %+v", e)
		}
	}
}

func TestUDPIsKept(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{})
	for network, addr := range map[string]string{"udp4": "8.8.4.4:9999", "udp6": "[2001:4860:4860::8844]:9999"} {
		c := dial(t, network, addr)
		before := now()
		fmt.Fprint(c, "datagram by "+network)
		sent := now()
		e := j.wait(t, network, func(e Event) bool { return e.Type == TypeData && string(e.Data) == "datagram by "+network })
		if e.Dest.String() != addr {
			t.Errorf("sent to %s", e.Dest)
		}
		// The kernel's moment, however late the reader came; its wall clock is read apart.
		if e.Stamp < before-time.Millisecond || e.Stamp > sent+time.Millisecond {
			t.Errorf("stamped %s, sent between %s and %s", e.Stamp, before, sent)
		}
	}
}

func TestLoopbackIsLeftAlone(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{})
	for _, host := range []string{"127.0.0.1:0", "[::1]:0", Own4.String() + ":0", "[" + Own6.String() + "]:0"} {
		l, err := net.Listen("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = io.WriteString(c, "mine")
				c.Close()
			}
		}()
		got, err := io.ReadAll(dial(t, "tcp", l.Addr().String()))
		if err != nil || string(got) != "mine" {
			t.Errorf("%s: %q, %v", host, got, err)
		}
		l.Close()
		if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
			c.Close()
			t.Errorf("%s: connected to nobody", host)
		}
		j.wait(t, "refused "+host, func(e Event) bool { return e.Type == TypeRefused && e.Dest.String() == l.Addr().String() })
		u := dial(t, "udp", l.Addr().String())
		fmt.Fprint(u, "to nobody")
		if _, err := u.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: a datagram to nobody: %v", host, err)
		}
		j.wait(t, "datagram "+host, func(e Event) bool {
			return e.Type == TypeData && string(e.Data) == "to nobody" && e.Dest.String() == l.Addr().String()
		})
	}
}

func TestDNSGivesEachNameItsAddress(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{})
	seen := map[string]bool{}
	for _, network := range []string{"udp", "tcp"} {
		for _, server := range []string{"1.1.1.1:53", "[2001:4860:4860::8888]:53"} {
			for _, typ := range []uint16{dns.TypeA, dns.TypeAAAA} {
				r := ask(t, network, server, "evil.example", typ)
				if len(r.Answer) != 1 {
					t.Fatalf("%s %s: %v", network, server, r)
				}
				seen[r.Answer[0].String()] = true
			}
			for _, typ := range []uint16{dns.TypeTXT, dns.TypeMX, dns.TypeSRV, dns.TypeHTTPS, dns.TypeNS} {
				if r := ask(t, network, server, "_http._tcp.evil.example", typ); len(r.Answer) != 1 {
					t.Errorf("%s: %v", dns.TypeToString[typ], r)
				}
			}
		}
	}
	if len(seen) != 2 {
		t.Errorf("one name had the addresses %v", seen)
	}
	a := ask(t, "udp", "9.9.9.9:53", "other.example", dns.TypeA).Answer[0].(*dns.A).A.String()
	arpa, _ := dns.ReverseAddr(a)
	if r := ask(t, "udp", "9.9.9.9:53", arpa, dns.TypePTR); len(r.Answer) != 1 || r.Answer[0].(*dns.PTR).Ptr != "other.example." {
		t.Errorf("reverse of %s: %v", a, r)
	}
	fmt.Fprint(dial(t, "tcp", a+":1234"), "named")
	if e := j.wait(t, "named", func(e Event) bool { return string(e.Data) == "named" }); e.Host != "other.example" {
		t.Errorf("host %q", e.Host)
	}
	j.wait(t, "query", func(e Event) bool { return e.Type == TypeQuery && e.Host == "evil.example" && e.Method == "AAAA" })

	b := ask(t, "udp", "9.9.9.9:53", "Other.EXAMPLE", dns.TypeA).Answer[0].(*dns.A).A.String()
	if b != a {
		t.Errorf("one name in other letters had the addresses %s and %s", a, b)
	}
	j.wait(t, "the letters that were asked for", func(e Event) bool { return e.Type == TypeQuery && e.Host == "Other.EXAMPLE" })
}

// An unconnected socket takes answers from anyone: they must not be diverted.
func TestDNSAnswersAnUnconnectedSocket(t *testing.T) {
	if !inside(t) {
		return
	}
	arm(t, Config{})
	for network, server := range map[string]string{"udp4": "8.8.8.8:53", "udp6": "[2001:4860:4860::8888]:53"} {
		c, err := net.ListenPacket(network, ":0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		m, _ := new(dns.Msg).SetQuestion("a.example.", dns.TypeA).Pack()
		if _, err := c.WriteTo(m, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(server))); err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		b := make([]byte, 512)
		_, from, err := c.ReadFrom(b)
		if err != nil || from.String() != server {
			t.Errorf("%s: from %v, %v", network, from, err)
		}
	}
}

func TestHTTPByName(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{Replies: []Reply{{Host: "*.example", Path: "/teapot", Status: 418, Body: "short"},
		{Host: "moved.example", Path: "/old/*", Status: http.StatusFound, Header: map[string]string{"Location": "http://there.example/new{path}"}}}})
	c := client(t, nil, false)
	resp, err := c.Post("http://collect.example/v1/x?k=v", "text/plain", strings.NewReader("the body"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %q", resp.Status, body)
	}
	e := j.wait(t, "request", func(e Event) bool { return e.Type == TypeRequest })
	if e.Method != http.MethodPost || e.Authority != "collect.example" || e.Path != "/v1/x?k=v" || e.Host != "collect.example" || e.App != "http/1.1" {
		t.Errorf("%+v", e)
	}
	if d := j.data(e.Flow, ViewWire); !strings.HasPrefix(d, "POST /v1/x") || !strings.HasSuffix(d, "the body") {
		t.Errorf("wire %q", d)
	}
	resp, err = c.Get("http://any.example/teapot")
	if err != nil || resp.StatusCode != http.StatusTeapot {
		t.Fatalf("%v %v", resp, err)
	}
	resp.Body.Close()
	if resp, err = c.Get("http://moved.example/old/a%0Ab?k=v"); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	e = j.wait(t, "the redirected request", func(e Event) bool { return e.Type == TypeRequest && e.Authority == "there.example" })
	if e.Path != "/new/old/a%0Ab" {
		t.Errorf("redirected to %+v", e)
	}
	pr, pw := io.Pipe()
	go func() { fmt.Fprint(pw, "sec"); fmt.Fprint(pw, "ret"); pw.Close() }()
	if resp, err = c.Post("http://chunks.example/", "", pr); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	e = j.wait(t, "chunks", func(e Event) bool { return e.Authority == "chunks.example" })
	if d := j.data(e.Flow, ViewRequest); !strings.HasSuffix(d, "\r\n\r\nsecret") {
		t.Errorf("request view %q", d)
	}
}

func TestHTTPSIsOpened(t *testing.T) {
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
	for _, h2 := range []bool{false, true} {
		want, view := map[bool]string{false: "http/1.1", true: "h2"}[h2], map[bool]View{false: ViewWire, true: ViewRequest}[h2]
		for _, host := range []string{"evil.example", "93.184.216.34", "[2606:2800:220:1::1]"} {
			text := "hunter2 " + host + want
			resp, err := client(t, pool, h2).Post("https://"+host+"/collect", "text/plain", strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s %s: %v", want, host, err)
			}
			resp.Body.Close()
			e := j.wait(t, "data", func(e Event) bool { return e.Type == TypeData && strings.Contains(string(e.Data), text) })
			if e.App != want || !e.TLS || e.View != view || e.Opaque || host == "evil.example" && e.SNI != host {
				t.Errorf("%+v", e)
			}
		}
	}
	// Not trusted.
	if resp, err := client(t, x509.NewCertPool(), false).Get("https://pinned.example/x"); err == nil {
		resp.Body.Close()
		t.Fatal("an unknown authority was trusted")
	}
	e := j.wait(t, "opaque", func(e Event) bool { return e.Type == TypeClose && e.SNI == "pinned.example" })
	if !e.Opaque || e.Error == "" || e.Host != "pinned.example" {
		t.Errorf("%+v", e)
	}
}

func TestMetadataGivesTheCredentials(t *testing.T) {
	if !inside(t) {
		return
	}
	arm(t, Config{Metadata: Metadata{AccessKeyID: "ASIAQ7RPVZ3KD5WJXN2M", SecretAccessKey: "s", SessionToken: "t", AccessToken: "ya29.q", Account: "a@b"}})
	for _, c := range []struct{ method, url, key, value, want string }{
		{"PUT", "http://169.254.169.254/latest/api/token", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60", "AQAE"},
		{"GET", "http://169.254.169.254/latest/meta-data/iam/security-credentials/", "", "", "app-instance-role"},
		{"GET", "http://169.254.169.254/latest/meta-data/iam/security-credentials/app-instance-role", "", "", "ASIAQ7RPVZ3KD5WJXN2M"},
		{"GET", "http://169.254.170.2/v2/credentials/x", "", "", "ASIAQ7RPVZ3KD5WJXN2M"},
		{"GET", "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token", "Metadata-Flavor", "Google", "ya29.q"},
		{"GET", "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token", "", "", "Missing"},
		{"GET", "http://169.254.169.254/metadata/identity/oauth2/token?resource=r", "Metadata", "true", "ya29.q"},
	} {
		r, _ := http.NewRequest(c.method, c.url, http.NoBody)
		if c.key != "" {
			r.Header.Set(c.key, c.value)
		}
		resp, err := client(t, nil, false).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(body), c.want) {
			t.Errorf("%s %s: %q", c.method, c.url, body)
		}
	}
}

func TestWebSocketIsRead(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{})
	c := dial(t, "tcp", "93.184.216.34:80")
	fmt.Fprint(c, "GET /ws HTTP/1.1\r\nHost: ws.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-Websocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatalf("%+v %v", resp, err)
	}
	frame := []byte{0x81, 0x85, 1, 2, 3, 4}
	for i, b := range []byte("token") {
		frame = append(frame, b^byte(i%4+1))
	}
	_, _ = c.Write(append(frame, 0x89, 0x80, 0, 0, 0, 0))
	pong := make([]byte, 2)
	if _, err := io.ReadFull(r, pong); err != nil || pong[0] != 0x8a {
		t.Errorf("pong %x %v", pong, err)
	}
	e := j.wait(t, "message", func(e Event) bool { return e.View == ViewMessage })
	if string(e.Data) != "token" || e.App != "websocket" {
		t.Errorf("%+v", e)
	}
}

func TestRefuseModeRefuses(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{Mode: ModeRefuse})
	r := ask(t, "udp", "8.8.8.8:53", "evil.example", dns.TypeA)
	addr := r.Answer[0].(*dns.A).A.String() + ":443"
	if c, err := net.DialTimeout("tcp", addr, 3*time.Second); err == nil {
		c.Close()
		t.Error("connected")
	} else if !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
	j.wait(t, "query", func(e Event) bool { return e.Type == TypeQuery })
	e := j.wait(t, "refused", func(e Event) bool { return e.Type == TypeRefused && e.Proto == "tcp" })
	if e.Host != "evil.example" || e.Dest.String() != addr {
		t.Errorf("%+v", e)
	}
	j.wait(t, "close", func(c Event) bool { return c.Type == TypeClose && c.Flow == e.Flow })
	six := ask(t, "tcp", "[2001:4860:4860::8888]:53", "other.example", dns.TypeAAAA).Answer[0].(*dns.AAAA).AAAA.String()
	for name, host := range map[string]string{"other.example": "[" + six + "]", "evil.example": strings.TrimSuffix(addr, ":443")} {
		u := dial(t, "udp", host+":9999")
		fmt.Fprint(u, "datagram to "+name)
		if _, err := u.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", name, err)
		}
		e := j.wait(t, name, func(e Event) bool { return e.Type == TypeData && string(e.Data) == "datagram to "+name })
		if e.Host != name || e.Dest.String() != host+":9999" {
			t.Errorf("%+v", e)
		}
		j.wait(t, "refused", func(r Event) bool { return r.Type == TypeRefused && r.Flow == e.Flow && r.Proto == "udp" })
	}
	// What the target has open on all addresses is not reached by way of another one.
	l, err := net.Listen("tcp", "0.0.0.0:8123")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := net.DialTimeout("tcp", "93.184.216.34:8123", 3*time.Second); err == nil {
		c.Close()
		t.Error("a refused address led to the target's own listener")
	}
	if c, err := net.DialTimeout("tcp", "127.0.0.1:8123", 3*time.Second); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
}

func TestServersThatSpeakFirst(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{})
	c := dial(t, "tcp", "93.184.216.34:25")
	r := bufio.NewReader(c)
	for _, step := range []struct{ say, want string }{
		{"", "220"}, {"HELO x", "250"}, {"MAIL FROM:<a@b>", "250"}, {"RCPT TO:<c@d>", "250"}, {"DATA", "354"}, {"secret mail\r\n.", "250"}, {"QUIT", "221"},
	} {
		if step.say != "" {
			fmt.Fprint(c, step.say+"\r\n")
		}
		if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, step.want) {
			t.Fatalf("%q: %q %v", step.say, line, err)
		}
	}
	c.Close()
	if e := j.closed(t, "secret mail"); e.App != "smtp" {
		t.Errorf("%+v", e)
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		os.Exit(serveMain())
	}
	os.Exit(m.Run())
}
