package profile

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The requests of a call are told by their hosts, lines and bodies, in whatever order.
func TestSentSequences(t *testing.T) {
	t.Parallel()
	var ordered []Ordered
	var distinct []uint64
	sequence := func(requests ...[2]string) Sent {
		b := NewBuilder(Context{Home: "/home/erin", Canaries: []canaries.Canary{{ID: "a", Kind: "github", Value: "ghp_0123456789abcdefghij0123456789abcdef", Issuers: []string{"api.github.com"}}}})
		now := time.Second
		b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseIdle), Time: now})
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "weigh", What: "tool", Time: now + time.Millisecond})
		for i, q := range requests {
			now += 10 * time.Millisecond
			for _, kind := range []string{trace.FlowOpen, trace.FlowData} {
				b.Flow(&trace.Flow{Type: kind, Flow: uint64(i + 1), Proto: "tcp", App: "http/1.1", Host: q[0], Dest: netip.AddrPortFrom(netip.AddrFrom4([4]byte{93, 184, 216, q[0][0]}), 80), View: trace.ViewWire,
					Data: []byte(map[string]string{trace.FlowData: q[1]}[kind]), Stamp: now})
			}
		}
		p := b.Profile()
		ordered, distinct = p.Ordered, nil
		for _, sums := range p.Requests {
			distinct = append(distinct, sums...)
		}
		return p.Sent[1]
	}
	a, b := [2]string{"a.tiles.example", "GET /1.png HTTP/1.1\r\nHost: x\r\n\r\n"}, [2]string{"b.tiles.example", "GET /1.png HTTP/1.1\r\nHost: x\r\n\r\n"}
	first := sequence(a, b)
	if len(distinct) != 2 || first.Peer != "93.184.216.97:80" {
		t.Fatalf("%+v", first)
	}
	if again := sequence(a, b); again != first {
		t.Errorf("the same requests: %+v, %+v", first, again)
	}
	if turned := sequence(b, a); turned.Sum != first.Sum {
		t.Errorf("in another order: %+v, %+v", first, turned)
	}
	for name, other := range map[string]Sent{
		"another host": sequence(a, a), "one more": sequence(a, b, a),
		"another body": sequence(a, [2]string{"b.tiles.example", "POST /1.png HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"}),
	} {
		if other.Sum == first.Sum {
			t.Errorf("%s: the same sum", name)
		}
	}
	if issuer := sequence([2]string{"api.github.com", a[1]}); issuer.Sum != 0 {
		t.Errorf("to an issuer: %+v", issuer)
	}
	if got := sequence([2]string{"a.tiles.example", "DELETE /tiles/1?why=x HTTP/1.1\r\nHost: x\r\n\r\n"}); got.Sum == 0 || len(ordered) != 1 || ordered[0].Method != http.MethodDelete || ordered[0].Path != "/tiles/1" || ordered[0].Tool != "weigh" {
		t.Errorf("ordered: %+v", ordered)
	}
	if held := sequence([2]string{"a.tiles.example", "GET /ghp_0123456789abcdefghij0123456789abcdef HTTP/1.1\r\nHost: x\r\n\r\n"}); held.Sum != 0 {
		t.Errorf("with a decoy: %+v", held)
	}
}
