//go:build linux

package sinkhole

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/miekg/dns"
)

func TestSniff(t *testing.T) {
	for in, want := range map[string]kind{
		"": kindUnknown, "G": kindUnknown, "GET": kindUnknown, "GET /x": kindUnknown, "GET / HTTP/1.1\r\n": kindHTTP, "GET key\r\n": kindRaw,
		"PRI * HTTP": kindUnknown, preface: kindHTTP2, "\x16": kindUnknown, "\x16\x03\x01": kindTLS, "\x16\x09\x01": kindRaw,
		"SSH-2.0-x": kindRaw, "P": kindUnknown, "\x00": kindRaw, "GETX / HTTP/1.1\r\n": kindRaw,
		"GET /" + strings.Repeat("x", sniffLimit): kindHTTP,
	} {
		if got := sniff([]byte(in)); got != want {
			t.Errorf("%.30q is %d, not %d", in, got, want)
		}
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("\x16\x03\x01"))
	f.Add([]byte(preface))
	f.Fuzz(func(t *testing.T, b []byte) {
		// What was decided on fewer bytes is not decided otherwise on more.
		decided := kindUnknown
		for i := range min(len(b), 64) {
			k := sniff(b[:i+1])
			if decided != kindUnknown && k != decided {
				t.Fatalf("%q is %d, %q is %d", b[:i], decided, b[:i+1], k)
			}
			decided = k
		}
		if len(b) >= sniffLimit && sniff(b) == kindUnknown {
			t.Fatal("undecided with all the bytes there are")
		}
	})
}

func TestFrameWatch(t *testing.T) {
	out := "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\xfa" + // SETTINGS
		"\x00\x00\x00\x04\x01\x00\x00\x00\x00" + // its acknowledgement
		"\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x00" + // RST_STREAM, no error
		"\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x05" +
		"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00" + // GOAWAY, no error
		"\x00\x00\x0b\x07\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x09why"
	for _, size := range []int{1, 2, 7, 9, 10, len(out)} {
		var got []string
		w := &frameWatch{broken: func(code uint32, all bool) { got = append(got, fmt.Sprint(code, all)) }}
		for rest := []byte(out); len(rest) > 0; {
			n := min(size, len(rest))
			w.sent(rest[:n])
			rest = rest[n:]
		}
		if fmt.Sprint(got) != "[5 false 9 true]" {
			t.Errorf("in parts of %d: %v", size, got)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x81\x85\x01\x02\x03\x04uqhaj\x88\x80\x00\x00\x00\x00"))
	f.Add([]byte("\x82\x7e\x00\x10abcdefgh"))
	f.Add([]byte("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		run := func(r io.Reader) (string, error) {
			var got bytes.Buffer
			err := frames(r, make([]byte, 128), func(_ byte, p []byte, _ bool) { got.Write(p) }, func(_ byte, p []byte) {
				if len(p) > 125 {
					t.Fatal("a long control frame")
				}
			})
			return got.String(), err
		}
		whole, err := run(bytes.NewReader(b))
		parts, _ := run(iotest.OneByteReader(bytes.NewReader(b)))
		if whole != parts && err == nil {
			t.Fatalf("whole %q, in parts %q", whole, parts)
		}
		if len(whole) > len(b) {
			t.Fatal("more payload than bytes")
		}
	})
}

func FuzzRespond(f *testing.F) {
	for _, typ := range []uint16{dns.TypeA, dns.TypePTR, dns.TypeSRV, dns.TypeHTTPS, dns.TypeMX, dns.TypeANY} {
		m, _ := new(dns.Msg).SetQuestion("_http._tcp.evil.example.", typ).Pack()
		f.Add(m)
	}
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"))
	n := newNames(Config{MaxNames: 64})
	f.Fuzz(func(t *testing.T, b []byte) {
		out := n.respond(b, 4096, func(dns.Question, bool, bool) {})
		if len(out) > 4096 {
			t.Fatalf("%d bytes", len(out))
		}
		if out != nil && (out[2]&0x80 == 0 || n.respond(out, 4096, func(dns.Question, bool, bool) {}) != nil) {
			t.Fatal("an answer is answered")
		}
	})
}

func FuzzTalk(f *testing.F) {
	f.Add("EHLO x\r\nAUTH LOGIN\r\nx\r\ny\r\nDATA\r\n.\r\nQUIT\r\n")
	f.Add("USER a\r\nPASV\r\nSTOR x\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		for _, with := range []*lineProtocol{smtp, ftp, pop3, imap} {
			state := &dialogue{dest: netip.MustParseAddrPort("93.184.216.34:21")}
			said := 0
			line := state.lines(nil, []byte(in), with, func(s string) { said += len(s) })
			if len(line) > maxLine || said > 256*(1+len(in)) {
				t.Fatalf("%s: %d kept, %d said", with.app, len(line), said)
			}
		}
	})
}

func TestNamesHaveAddressesOfTheirOwn(t *testing.T) {
	n := newNames(Config{MaxNames: 1000})
	seen := map[netip.Addr]string{}
	for i := range 1000 {
		name := strings.Repeat("x", i%60) + "." + string(rune('a'+i%26)) + strings.Repeat("y", i/60)
		a, b, ok := n.lookup(name)
		if !ok {
			t.Fatalf("no address was left for name %d", i)
		}
		for _, addr := range []netip.Addr{a, b} {
			if other, taken := seen[addr]; taken && other != name {
				t.Fatalf("%s is %s's and %s's", addr, other, name)
			}
			seen[addr] = name
			if got := n.name(addr); got != name {
				t.Fatalf("%s leads to %q, not to %q", addr, got, name)
			}
			for _, p := range notGlobal {
				if p.Contains(addr) {
					t.Fatalf("%s is in %s", addr, p)
				}
			}
		}
	}
	a, b, ok := n.lookup("one.too.many")
	if ok || n.name(a) != "" || n.name(b) != "" {
		t.Errorf("one too many: %v %v %v", a, b, ok)
	}
}

func TestAnswersByAccept(t *testing.T) {
	for _, c := range []struct{ method, url, accept, kind string }{
		{"GET", "http://x.example/", "text/html,application/xhtml+xml", "text/html; charset=utf-8"},
		{"GET", "http://x.example/", "application/vnd.github+json", "application/json"},
		{"GET", "http://x.example/a.json", "*/*", "application/json"},
		{"GET", "http://api.x.example/", "*/*", "application/json"},
		{"GET", "http://x.example/", "text/event-stream;q=1", "text/event-stream"},
		{"POST", "http://x.example/", "", "application/json"},
		{"GET", "http://x.example/humans.txt", "", "text/plain; charset=utf-8"},
	} {
		r := httptest.NewRequest(c.method, c.url, http.NoBody)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		cfg := Config{}
		cfg.pageFor(r, r.Host, false, nil).write(w, false)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != c.kind {
			t.Errorf("%s %s (%s): %d %s", c.method, c.url, c.accept, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

func FuzzParsePacket(f *testing.F) {
	f.Add([]byte("\x45\x00\x00\x1d\x00\x00\x00\x00\x40\x11\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x00\x50\x00\x35\x00\x09\x00\x00x"))
	f.Add(append(append([]byte("\x60\x00\x00\x00\x00\x10\x3c\x40"), make([]byte, 32)...), "\x3a\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00payload"...))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ok := parsePacket(b)
		if !ok {
			return
		}
		if !p.src.IsValid() || !p.dst.IsValid() || p.proto == "" || !bytes.HasSuffix(b, p.payload) {
			t.Fatalf("%+v of %x", p, b)
		}
	})
}

func TestParsePacket(t *testing.T) {
	for in, want := range map[string]string{
		"\x45\x00\x00\x1d\x00\x00\x00\x00\x40\x11\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x00\x50\x00\x35\x00\x09\x00\x00x": "udp 1.2.3.4:80 5.6.7.8:53 x",
		"\x46\x00\x00\x1d\x00\x00\x00\x00\x40\x2f\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x01\x01\x01\x01gre":               "ip-47 1.2.3.4:0 5.6.7.8:0 gre",
		"\x45\x00\x00\x1d\x00\x00\x00\x00\x40\x01\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x08":                              "icmp 1.2.3.4:0 5.6.7.8:0 \x08",
		"\x60\x00\x00\x00\x00\x10\x00\x40" + strings.Repeat("\x20\x01"+strings.Repeat("\x00", 13)+"\x01", 2) +
			"\x3a\x00\x00\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00ping": "icmp [2001::1]:0 [2001::1]:0 ping",
		"\x45\x00": "", "\x4f" + strings.Repeat("\x00", 30): "", "\x95" + strings.Repeat("\x00", 60): "",
		"\x60\x00\x00\x00\x00\x10\x00\x40" + strings.Repeat("\x00", 32) + "\x00\xff\x00\x00\x00\x00\x00\x00": "",
	} {
		got := ""
		if p, ok := parsePacket([]byte(in)); ok {
			got = fmt.Sprint(p.proto, " ", p.src, " ", p.dst, " ", string(p.payload))
		}
		if got != want {
			t.Errorf("%x is %q, not %q", in, got, want)
		}
	}
}

// A rebinding name has an address of its own for the first query of each family.
func TestNamesLeadElsewhereLater(t *testing.T) {
	n := newNames(Config{MaxNames: 10, Leads: []Lead{{Host: "????.web.example.org", Addr: metadataAddr, Later: true}}})
	for i, want := range []bool{false, true, true} {
		a, ok := n.address("abcd.web.example.org", false)
		if !ok || (a == metadataAddr) != want {
			t.Errorf("query %d: %v", i+1, a)
		}
	}
	if a, _ := n.address("efgh.web.example.org", false); a == metadataAddr {
		t.Error("another name has been asked for")
	}
	first, _ := n.address("abcd.web.example.org", true)
	second, _ := n.address("abcd.web.example.org", true)
	if !first.Is6() || second.IsValid() {
		t.Errorf("IPv6: %v, then %v", first, second)
	}
}

func TestNamesLeadToASharedAddress(t *testing.T) {
	n := newNames(Config{MaxNames: 10, Leads: []Lead{{Host: "????.dev.example.org", Addr: metadataAddr}, {Host: "[", Addr: metadataAddr}}})
	for _, x := range []struct {
		name string
		typ  uint16
		want netip.Addr
	}{
		{"ABCD.dev.example.org.", dns.TypeA, metadataAddr},
		{"efgh.dev.example.org.", dns.TypeA, metadataAddr},
		{"abcd.dev.example.org.", dns.TypeAAAA, netip.Addr{}},
	} {
		records, rcode, ok := n.resolve(dns.Question{Name: x.name, Qtype: x.typ, Qclass: dns.ClassINET})
		if !ok || rcode != dns.RcodeSuccess || len(records) > 1 {
			t.Fatalf("%s: %v %d %v", x.name, records, rcode, ok)
		}
		var got netip.Addr
		if len(records) == 1 {
			got, _ = netip.AddrFromSlice(records[0].(*dns.A).A.To4())
		}
		if got != x.want {
			t.Errorf("%s leads to %v, not to %v", x.name, got, x.want)
		}
	}
	if got := n.name(metadataAddr); got != "" {
		t.Errorf("the shared address is said to be %q's", got)
	}
	for _, other := range []string{"abcde.dev.example.org", "dev.example.org", "a.abcd.dev.example.org"} {
		if a, ok := n.address(other, false); !ok || a == metadataAddr || n.name(a) != other {
			t.Errorf("%s leads to %v", other, a)
		}
	}
}
