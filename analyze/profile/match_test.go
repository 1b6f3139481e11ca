package profile

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Each step is a second: 'c' a call that begins, with a process of its own which
// connects; 'k' a connect of the server's own; 'd' and 'D' a datagram of one flow
// and of another; 'f' a connection that is taken.
func TestMatchDials(t *testing.T) {
	for _, c := range []struct {
		name, proto, steps string
		want               []int // the call of the process to which each flow's bytes belong, 0 for none
	}{
		{"a process a call", "udp", "cdcD", []int{1, 2}},
		{"a port that came to another process", "udp", "cdcd", []int{1, 2}},
		{"a port that came to the third", "udp", "cdcDcd", []int{1, 2, 3}},
		{"a socket that is kept", "udp", "cddd", []int{1, 1, 1}},
		{"a socket that another does not take over", "udp", "cdcDd", []int{1, 2, 1}},
		{"two that waited for their turn", "tcp", "ccff", []int{1, 2}},
		{"one that led to nothing", "tcp", "ccf", []int{2}},
		{"one that nobody was seen opening", "tcp", "f", []int{0}},
	} {
		b := builder()
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/python3"})
		to := &trace.Addr{Family: "inet", Host: "8.8.8.8", Port: 7000}
		calls, flows := 0, uint64(2)
		type part struct {
			flow uint64
			at   time.Duration
		}
		var parts []part
		for i, step := range c.steps {
			at := time.Duration(i+1) * time.Second
			flow := map[rune]uint64{'d': 1, 'D': 2}[step]
			switch step {
			case 'c':
				calls++
				b.Mark(&session.Mark{Kind: "call", Call: calls, Tool: "t", Time: at})
				b.Record(&trace.Record{Op: trace.OpFork, Tid: 1, Child: 10 + calls, Time: at})
				b.Record(&trace.Record{Op: trace.OpConnect, Tid: 10 + calls, Addr: to, Time: at + 1})
				continue
			case 'f':
				flows++
				flow = flows
			}
			e := trace.Flow{Type: trace.FlowOpen, Flow: flow, Proto: c.proto, Dest: netip.MustParseAddrPort("8.8.8.8:7000"), Stamp: at}
			b.Flow(&e)
			e.Type, e.View, e.Data = trace.FlowData, trace.ViewWire, []byte("x")
			b.Flow(&e)
			parts = append(parts, part{flow, at})
		}
		b.matchDials()
		var got []int
		for _, p := range parts {
			call := 0
			if d := b.flows[p.flow].dial(p.at); d != nil {
				call = d.effect.Call
			}
			got = append(got, call)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
