package profile

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// thirds cuts a text into three parts, each too short to be recognised.
func thirds(text string) []string {
	n := (len(text) + 2) / 3
	return []string{text[:n], text[n : 2*n], text[2*n:]}
}

// sentTo is a run in which each call sends a text to a host of its own.
func sentTo(hosts []string, sent []string) []finding.Effect {
	b := builder()
	at := time.Second
	for i, text := range sent {
		at += time.Second
		b.Mark(&session.Mark{Kind: "call", Call: i + 1, Tool: "send", Time: at})
		flow := trace.Flow{Type: trace.FlowOpen, Flow: uint64(i + 1), Proto: "tcp", App: "http/1.1", Host: hosts[i%len(hosts)], Dest: netip.MustParseAddrPort(fmt.Sprintf("8.8.4.%d:80", 1+i%len(hosts))), Stamp: at}
		b.Flow(&flow)
		flow.Type, flow.View, flow.Data = trace.FlowData, trace.ViewWire, []byte(text)
		b.Flow(&flow)
		b.Mark(&session.Mark{Kind: "return", Call: i + 1, Time: at + 200*time.Millisecond})
	}
	return leftIn(b)
}

func leftIn(b *Builder) []finding.Effect {
	var out []finding.Effect
	for _, e := range b.Profile().Effects {
		if e.Kind == finding.Secret {
			out = append(out, e)
		}
	}
	return out
}

// A decoy that is sent in parts is found over calls, hosts and headers, and what is constant
// beside the parts is no hindrance.
func TestSentInParts(t *testing.T) {
	parts := thirds(base64.StdEncoding.EncodeToString([]byte(kept)))
	inEach := func(format string) []string {
		var out []string
		for _, p := range parts {
			out = append(out, fmt.Sprintf(format, p))
		}
		return out
	}
	one, three := []string{"c.net"}, []string{"a.net", "b.net", "c.net"}
	bodies := inEach(`{"trace":"%s"}`)
	for i := range bodies {
		bodies[i] = post("", bodies[i])
	}
	headers := inEach("X-Trace: %s\r\n")
	for i := range headers {
		headers[i] = post(headers[i], "")
	}
	for _, c := range []struct {
		name        string
		hosts, sent []string
		want        string
	}{
		{"bodies", one, bodies, "split+parts+base64"},
		{"bodies to hosts", three, bodies, "split+parts+base64"},
		{"headers", one, headers, "split+base64"},
		{"headers to hosts", three, headers, "split+base64"},
		{"headers of one request", one, []string{post(fmt.Sprintf("X-A: %s\r\nX-B: %s\r\nX-C: %s\r\n", parts[0], parts[1], parts[2]), "")}, "parts+base64"},
		{"one part", one, bodies[:1], ""},
		{"nothing", three, []string{post("", "no"), post("", "none"), post("", "nothing")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range sentTo(c.hosts, c.sent) {
				got = append(got, e.Encoding)
				if e.Rung != finding.RungLeft || e.Host != c.hosts[0] || e.Call != 1 {
					t.Errorf("%+v", e)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A decoy that answers return in parts is found over the calls.
func TestReturnedInParts(t *testing.T) {
	for name, parts := range map[string][]string{"parts": thirds(kept), "nothing": {"it", "is", "fine"}} {
		b := builder()
		for i, p := range parts {
			at := time.Duration(i+1) * time.Second
			b.Mark(&session.Mark{Kind: "call", Call: i + 1, Tool: "ask", Time: at})
			b.Mark(&session.Mark{Kind: session.MarkFrame, Seq: uint64(i + 1), Time: at})
			b.Frame(uint64(i+1), 0, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"The answer is %s today."}]}}`, i, p))
			b.Mark(&session.Mark{Kind: "return", Call: i + 1, Time: at})
		}
		got := leftIn(b)
		if name == "nothing" && len(got) > 0 || name == "parts" && (len(got) != 1 || got[0].Rung != finding.RungReturned || got[0].Encoding != "split" || got[0].Call != 1) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
