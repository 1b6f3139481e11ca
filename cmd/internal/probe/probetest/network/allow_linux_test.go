//go:build linux && e2e

package network

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/miekg/dns"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	worldEnv = "PROBE_WORLD"
	// The world's only host and its name server, on the loopback interface of a
	// namespace of the test's own: nothing there leads anywhere.
	worldHost, worldServer = "93.184.216.34", "93.184.216.53"
)

// inWorld runs the calling test once more in a network of its own, whose names
// and addresses are the test's. It reports whether this is that run.
func inWorld(t *testing.T) bool {
	t.Helper()
	sandboxtest.Need(t, "root")
	if os.Getenv(worldEnv) != "" {
		return true
	}
	// Its time does not begin before there is room for it.
	probetest.Hold(t)
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.timeout=180s", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), worldEnv+"=1", slots.HeldEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	// The signal comes when the starting thread ends (prctl(2)), so no other goroutine may end it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("in the test's own network: %v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
	return false
}

// world is a host that can be reached, and what it was sent.
type world struct {
	got     chan string
	rebound atomic.Bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lo, err := netlink.LinkByName("lo")
	must(err)
	must(netlink.LinkSetUp(lo))
	for _, a := range []string{worldHost, worldServer} {
		addr, err := netlink.ParseAddr(a + "/32")
		must(err)
		must(netlink.AddrAdd(lo, addr))
	}
	must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	conf := filepath.Join(t.TempDir(), "resolv.conf")
	must(os.WriteFile(conf, []byte("nameserver "+worldServer+"\n"), 0o644))
	must(unix.Mount(conf, "/etc/resolv.conf", "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount("/etc/resolv.conf", unix.MNT_DETACH) })

	w := &world{got: make(chan string, 100)}
	w.serveNames(t)
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.got <- r.Method + " " + r.Host + r.URL.Path + " " + string(b)
		_, _ = io.WriteString(rw, "the real one says hello")
	})
	for port, start := range map[string]func(*httptest.Server){"80": (*httptest.Server).Start, "443": (*httptest.Server).StartTLS} {
		l, err := net.Listen("tcp", worldHost+":"+port)
		must(err)
		s := httptest.NewUnstartedServer(handler)
		s.Listener, s.EnableHTTP2 = l, true
		start(s)
		t.Cleanup(s.Close)
	}
	w.serveEchoes(t)
	// On addresses that no name of the sandbox's may lead to.
	for _, a := range []string{"127.0.0.1:80"} {
		l, err := net.Listen("tcp", a)
		must(err)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				w.got <- "REACHED " + a
				_ = c.Close()
			}
		}()
	}
	return w
}

// serveNames answers for the world's names. One of them is public when it is
// first asked for and private from then on.
func (w *world) serveNames(t *testing.T) {
	t.Helper()
	pc, err := net.ListenPacket("udp", worldServer+":53")
	if err != nil {
		t.Fatal(err)
	}
	fixed := map[string]string{
		"api.example.com.": worldHost, "deep.example.net.": worldHost, "raw.example.net.": worldHost, "other.example.net.": worldHost, "two.example.net.": worldHost, "pins.example.net.": worldHost, "inside.example.com.": "127.0.0.1", "metadata.example.com.": "169.254.169.254",
		"private.example.com.": "10.1.2.3", "mapped.example.com.": "::ffff:127.0.0.1", "link.example.com.": "fe80::1", "other.example.org.": worldHost,
	}
	srv := &dns.Server{PacketConn: pc, Handler: dns.HandlerFunc(func(rw dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		name := strings.ToLower(q.Question[0].Name)
		w.got <- "ASKED " + name
		a, known := fixed[name]
		if name == "rebind.example.com." && q.Question[0].Qtype == dns.TypeA {
			if a, known = worldHost, true; w.rebound.Swap(true) {
				a = "127.0.0.1"
			}
		}
		if !known {
			m.Rcode = dns.RcodeNameError
			_ = rw.WriteMsg(m)
			return
		}
		hdr := dns.RR_Header{Name: q.Question[0].Name, Rrtype: q.Question[0].Qtype, Class: dns.ClassINET}
		ip := netip.MustParseAddr(a)
		switch {
		case q.Question[0].Qtype == dns.TypeA && ip.Is4():
			m.Answer = append(m.Answer, &dns.A{Hdr: hdr, A: ip.AsSlice()})
		case q.Question[0].Qtype == dns.TypeAAAA && ip.Is6():
			m.Answer = append(m.Answer, &dns.AAAA{Hdr: hdr, AAAA: ip.AsSlice()})
		}
		_ = rw.WriteMsg(m)
	})}
	go func() { _ = srv.ActivateAndServe() }()
	t.Cleanup(func() { _ = srv.Shutdown() })
}

// serveEchoes answers TCP after all was said, and each datagram.
func (w *world) serveEchoes(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", worldHost+":7000")
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", worldHost+":7001")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.Close(), pc.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				n, _ := io.Copy(io.Discard, c)
				_, _ = fmt.Fprintf(c, "%d bytes, then the end", n)
			}()
		}
	}()
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, from, err := pc.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = pc.WriteTo(fmt.Appendf(nil, "echo of %d", n), from)
		}
	}()
}

// heard is what the world has got so far.
func (w *world) heard() (all []string) {
	for {
		select {
		case s := <-w.got:
			all = append(all, s)
		default:
			return all
		}
	}
}

const allowList = "allow=api.example.com,*.example.net,inside.example.com,metadata.example.com,private.example.com,mapped.example.com,link.example.com,nowhere.example.com,rebind.example.com"

// TestAllow: named hosts are really reached through the host process, all others
// are sunk, and no name leads inside.
func TestAllow(t *testing.T) {
	t.Parallel()
	if !inWorld(t) {
		return
	}
	w := newWorld(t)
	for _, backend := range probetest.Backends {
		t.Run(backend, func(t *testing.T) {
			probetest.Need(t, backend)
			l := probetest.New(t, "caller")
			o := l.Options(backend, l.Path("caller"))
			o.Network = allowList
			list := []*called{
				{how: "get", url: "http://api.example.com/real"}, {how: "get", url: "http://other.example.org/sunk"},
				{how: "half-close", url: "tcp://deep.example.net:7000"}, {how: "datagram", url: "udp://api.example.com:7001"},
				{how: "get", url: "http://inside.example.com/"}, {how: "get", url: "http://metadata.example.com/"},
				{how: "get", url: "http://private.example.com/"}, {how: "get", url: "http://mapped.example.com/"},
				{how: "get", url: "http://link.example.com/"}, {how: "get", url: "http://nowhere.example.com/"},
				{how: "get", url: "http://" + worldHost + "/by-address"},
				{how: "get", url: "http://rebind.example.com/first"}, {how: "get", url: "http://rebind.example.com/second"},
			}
			calls(&o, list, nil)
			w.rebound.Store(false)
			res := l.Probe(o)
			heard := w.heard()
			t.Logf("%s %q\nreached %q\nthe world heard %q", res.Verdict, res.Inconclusive, res.Coverage.Reached, heard)
			for i, want := range []string{"200 the real one says hello", "", "600000 bytes, then the end", "echo of 4;echo of 0;", "error: ", "error: ", "error: ", "error: ", "error: ", "error: ", "", "200 the real one says hello", "error: "} {
				if got := list[i].text(); !strings.HasPrefix(got, want) || want == "" && strings.Contains(got, "the real one") {
					t.Errorf("%s %s: %q, not %q", list[i].how, list[i].url, got, want)
				}
			}
			w.check(t, heard, []string{"POST api.example.com/real what a client says", "POST rebind.example.com/first what a client says"})
			reached := strings.Join(res.Coverage.Reached, "\n")
			for _, s := range []string{
				"api.example.com:80 over tcp was reached at " + worldHost + ":80 (1 times; ", "deep.example.net:7000 over tcp was reached at " + worldHost + ":7000 (1 times; 600000 bytes there, 26 back)",
				"api.example.com:7001 over udp was reached at " + worldHost + ":7001 (1 times; 4 bytes there, 18 back)", "nowhere.example.com:80 over tcp was not reached",
			} {
				if !strings.Contains(reached, s) {
					t.Errorf("it is not said that %s", s)
				}
			}
			for _, name := range []string{"inside", "metadata", "private", "mapped", "link", "rebind"} {
				if !strings.Contains(reached, name+".example.com:80 over tcp was not reached") || !strings.Contains(reached, "an address that is not public") {
					t.Errorf("%s is not said to be inside", name)
				}
			}
			if strings.Contains(reached, "other.example.org") {
				t.Error("a host that is not on the list was dialled")
			}
			flowsAllowed(l, map[string]bool{"api.example.com": true, "other.example.org": false, "deep.example.net": true, "inside.example.com": true})
		})
	}
}

// A server that tried the loopback address is started again with an answer there,
// and reaches what is allowed once more: the report says both.
func TestAllowAndLoopback(t *testing.T) {
	t.Parallel()
	if !inWorld(t) {
		return
	}
	probetest.Need(t, "local")
	w := newWorld(t)
	l := probetest.New(t, "caller")
	o := l.Options("local", l.Path("caller"))
	o.Network = "allow=api.example.com"
	list := []*called{{how: "get", url: "http://api.example.com/real"}, {how: "get", url: "http://127.0.0.1:8125/"}}
	var answers []string
	calls(&o, list, func(c *called, _ *run.Session) {
		if c == list[0] && c.result.Raw != nil {
			answers = append(answers, list[1].text())
		}
	})
	res := l.Probe(o)
	answers = append(answers, list[1].text())
	if len(answers) != 2 || !strings.HasPrefix(answers[0], "error: ") || !strings.HasPrefix(answers[1], "200 ") {
		t.Errorf("the loopback address answered %q", answers)
	}
	w.check(t, w.heard(), []string{"POST api.example.com/real what a client says", "POST api.example.com/real what a client says"})
	const reached = "api.example.com:80 over tcp was reached at " + worldHost + ":80 (1 times; "
	if got := res.Coverage.Reached; len(got) != 2 || !strings.HasPrefix(got[0], reached) || !strings.HasPrefix(got[1], "with an answer on the loopback address: "+reached) {
		t.Errorf("it is said that %q", got)
	}
}

// check compares what the world's host got with what it should have, and that
// its name server was asked for names on the list only.
func (w *world) check(t *testing.T, heard, want []string) {
	t.Helper()
	got := slices.DeleteFunc(slices.Clone(heard), func(s string) bool { return strings.HasPrefix(s, "ASKED ") })
	if !slices.Equal(got, want) {
		t.Errorf("the host got %q", got)
	}
	for _, s := range heard {
		if strings.HasPrefix(s, "ASKED ") && !strings.HasSuffix(s, ".example.com.") && !strings.HasSuffix(s, ".example.net.") {
			t.Errorf("the name server was %s", s)
		}
	}
}

// flowsAllowed checks in the log which hosts' flows were let through.
func flowsAllowed(l *probetest.Lab, want map[string]bool) {
	l.T.Helper()
	got := map[string]bool{}
	for f := range l.Flows() {
		if f.Type == trace.FlowOpen && f.Dest.Port() != 53 && f.Host != "" {
			got[f.Host] = f.Allowed
		}
	}
	for host, allowed := range want {
		if now, seen := got[host]; !seen || now != allowed {
			l.T.Errorf("flows to %s: seen %v, allowed %v", host, seen, now)
		}
	}
}

// An ordinary user's run reaches what is allowed, and nothing else.
func TestAllowAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	if !inWorld(t) {
		return
	}
	w := newWorld(t)
	sandboxtest.AsOrdinaryUser(t, "^TestAllowOrdinary$", "./testdata/servers/caller", "./cmd/coalmine")
	w.check(t, w.heard(), []string{"POST api.example.com/real what a client says"})
}

// TestAllowOrdinary is what TestAllowAsOrdinaryUser runs as another user.
func TestAllowOrdinary(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("for an ordinary user; TestAllowAsOrdinaryUser runs it as one")
	}
	probetest.Need(t, "local")
	l := probetest.New(t, "caller")
	o := l.Options("local", l.Path("caller"))
	o.Network = "allow=api.example.com"
	list := []*called{{how: "get", url: "http://api.example.com/real"}, {how: "get", url: "http://other.example.org/sunk"}}
	calls(&o, list, nil)
	res := l.Probe(o)
	if got := list[0].text(); !strings.HasPrefix(got, "200 the real one says hello") {
		t.Errorf("the allowed host: %q", got)
	}
	if got := list[1].text(); strings.Contains(got, "the real one") {
		t.Errorf("another host: %q", got)
	}
	if reached := strings.Join(res.Coverage.Reached, "\n"); !strings.Contains(reached, "api.example.com:80 over tcp was reached at "+worldHost+":80") || strings.Contains(reached, "other.example.org") {
		t.Errorf("it is said that %s", reached)
	}
	flowsAllowed(l, map[string]bool{"api.example.com": true, "other.example.org": false})
}

// TLS to an allowed host can not be read, which its user may accept.
func TestAllowedTLSIsOpaque(t *testing.T) {
	t.Parallel()
	if !inWorld(t) {
		return
	}
	probetest.Need(t, "local")
	w := newWorld(t)
	accepting, err := policy.Parse("p.yaml", []byte("accept_opaque: [api.example.com]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*policy.Policy{"told": nil, "accepted": accepting} {
		t.Run(name, func(t *testing.T) {
			l := probetest.New(t, "caller")
			o := l.Options("local", l.Path("caller"))
			o.Network, o.Policy = "allow=api.example.com", p
			list := []*called{{how: "pin", url: "tls://api.example.com:443"}}
			calls(&o, list, nil)
			res := l.Probe(o)
			t.Logf("%s %q %q\n%q", res.Verdict, res.Inconclusive, res.Coverage.Reached, w.heard())
			if list[0].text() != "pinned" {
				t.Errorf("it said %q", list[0].text())
			}
			told := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM107" })
			if p == nil && (res.Verdict != analyze.Inconclusive || !told || !slices.Contains(res.Inconclusive, "coalmine could not decrypt what the server sent to api.example.com:443")) {
				t.Errorf("%s %q, CM107 %v", res.Verdict, res.Inconclusive, told)
			}
			if p != nil && (res.Verdict != analyze.Clean || len(res.Inconclusive) > 0) {
				t.Errorf("%s %q", res.Verdict, res.Inconclusive)
			}
		})
	}
}
