package profile

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const plainDecoy = "sk-decoy-4f9d1c7a2b6e8f0d5a3c"

// What was read before encryption makes an opaque flow readable, where it is all that was sent,
// and proves the decoy in it in any case.
func TestPlain(t *testing.T) {
	t.Parallel()
	request := "POST /x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 29\r\n\r\n" + plainDecoy
	size := int64(len(request))
	piece := func(change func(*trace.Flow)) trace.Flow {
		f := trace.Flow{Type: trace.FlowPlain, Conn: 7, Whole: true, Proto: "tcp", TLS: true, Stamp: 20 * time.Millisecond, Data: []byte(request),
			Source: netip.MustParseAddrPort("192.168.1.2:40000"), Dest: netip.MustParseAddrPort("198.18.0.9:443")}
		if change != nil {
			change(&f)
		}
		return f
	}
	packed := newSender()
	packed.head(1, true, posted...)
	_ = packed.WriteData(1, true, []byte("body"))
	inHTTP2 := piece(func(f *trace.Flow) { f.Data = packed.out.Bytes() })
	odd := newSender()
	odd.head(1, true, posted...)
	_ = odd.WriteRawFrame(0xaa, 0, 0, []byte("secret"))
	hello := piece(func(f *trace.Flow) { f.Data = []byte("\x16\x03\x01\x00\x05hello") })
	for _, c := range []struct {
		name           string
		up             int64
		pieces         []trace.Flow
		opaque, proven bool
		text           string
	}{
		{"all of it", size + 900, []trace.Flow{piece(nil)}, false, true, "was sent to 198.18.0.9:443 over https (raw, offset 57) in POST /x, read before encryption"},
		{"not from the begin", size + 900, []trace.Flow{piece(func(f *trace.Flow) { f.Whole = false })}, true, true, "was sent to"},
		{"not all of it", size + 900, []trace.Flow{piece(func(f *trace.Flow) { f.Cut = true })}, true, true, "was sent to"},
		{"a piece is missing", size + 900, []trace.Flow{piece(func(f *trace.Flow) { f.Offset = 10 })}, true, true, "was sent to"},
		{"more was sent beside it", size + 1<<20, []trace.Flow{piece(nil)}, true, true, "was sent to"},
		{"never sent", 400, []trace.Flow{piece(nil)}, true, true, "was handed to TLS for 198.18.0.9:443"},
		{"only offered", 400, []trace.Flow{piece(func(f *trace.Flow) { f.Offered = true })}, true, true, "the connection ended before it was sent"},
		{"TLS that nobody read within it", 900, []trace.Flow{hello}, true, false, ""},
		{"TLS within TLS", size + 1900, []trace.Flow{hello, piece(func(f *trace.Flow) { f.Conn = 8 })}, false, true, "read before encryption"},
		{"of another socket", size + 900, []trace.Flow{piece(func(f *trace.Flow) { f.Source = netip.MustParseAddrPort("192.168.1.2:40001") })}, true, false, ""},
		{"HTTP/2", int64(packed.out.Len()) + 900, []trace.Flow{inHTTP2}, false, true, "was sent to 198.18.0.9:443 over h2 (raw, offset 42) in POST /x, read before encryption"},
		{"HTTP/2 with more than requests", int64(odd.out.Len()) + 900, []trace.Flow{piece(func(f *trace.Flow) { f.Data = odd.out.Bytes() })}, true, true, "in POST /x, read before encryption"},
		{"HTTP/2 of which not all was read", int64(packed.out.Len()) + 900, []trace.Flow{piece(func(f *trace.Flow) { f.Data, f.Cut = packed.out.Bytes(), true })}, true, false, ""},
		{"no HTTP/2", size + 900, []trace.Flow{piece(func(f *trace.Flow) { f.Data = []byte("PRI * HTTP/2.0\r\n\r\n" + request) })}, true, true, "was sent to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := NewBuilder(Context{Canaries: []canaries.Canary{{ID: "key", Kind: "api-key", Value: plainDecoy}}, Flows: true})
			b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseIdle)})
			flow := trace.Flow{Type: trace.FlowOpen, Flow: 1, Stamp: 22 * time.Millisecond, Proto: "tcp", Host: "a.example", TLS: true, App: "tls",
				Source: netip.MustParseAddrPort("192.168.1.2:40000"), Dest: netip.MustParseAddrPort("198.18.0.9:443")}
			b.Flow(&flow)
			for i := range c.pieces {
				b.Flow(&c.pieces[i])
			}
			flow.Type, flow.Stamp, flow.Opaque, flow.Up, flow.Kept = trace.FlowClose, 30*time.Millisecond, true, c.up, c.up
			if flow.Allowed = c.up > 500; !flow.Allowed {
				flow.Kept, flow.Error = 0, "TLS handshake: remote error"
			}
			b.Flow(&flow)
			p := b.Profile()
			if opaque := len(p.Opaque) > 0; opaque != c.opaque {
				t.Errorf("opaque %v", opaque)
			}
			if read := len(p.Plain) > 0; read == c.opaque {
				t.Errorf("peers that were read before encryption: %q", p.Plain)
			}
			said := ""
			for _, e := range p.Effects {
				if e.Kind == finding.Secret && e.Rung == finding.RungLeft && e.Target == "key" {
					said += e.Evidence[0].Text
				}
			}
			if (said != "") != c.proven || !strings.Contains(said, c.text) {
				t.Errorf("it is said that %q", said)
			}
		})
	}
}
