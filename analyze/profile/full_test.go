package profile

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Where there is room for no more effects, what one of them would have had is not
// given to another.
func TestAFullProfileMixesNothingUp(t *testing.T) {
	b := NewBuilder(Context{Home: "/home/dana"})
	for i := range maxEffects {
		b.add(finding.Effect{Kind: finding.FileRead, Target: fmt.Sprint("/srv/", i)})
	}
	to := netip.MustParseAddrPort("93.184.216.34:443")
	b.Record(&trace.Record{Op: trace.OpConnect, Tid: 5, Time: time.Second, Call: "connect", Addr: &trace.Addr{Family: "inet", Host: "93.184.216.34", Port: 443}})
	for _, kind := range []string{trace.FlowOpen, trace.FlowRequest, trace.FlowClose} {
		b.Flow(&trace.Flow{Type: kind, Flow: 1, Proto: "tcp", App: "http/1.1", Dest: to, Method: "POST", Path: "/x", Stamp: time.Second})
	}
	p := b.Profile()
	if !p.Truncated {
		t.Error("nobody is told that it is full")
	}
	for _, e := range p.Effects {
		if e.Via != "" || len(e.Requests) > 0 || len(e.Evidence) > 0 {
			t.Fatalf("a file that was read has become %+v", e)
		}
	}
}

// Each decoy of a message has its own place.
func TestPointersOfSeveralDecoys(t *testing.T) {
	list := []canaries.Canary{{ID: "a", Value: "wq8ZrT5kLm2NxB7vCdE4"}, {ID: "b", Value: "Kp3XvN9sQe6RtY1uJhG8"}}
	b := NewBuilder(Context{Home: "/home/dana", Canaries: list})
	raw := []byte(`{"result":[{"x":"` + list[1].Value + `"},"` + list[0].Value + " " + list[1].Value + `"]}`)
	got := b.pointers(raw, []canaries.Hit{{ID: "a"}, {ID: "b"}, {ID: "b"}, {ID: "c"}})
	if len(got) != 2 || got["a"] != " at /result/1" || got["b"] != " at /result/0/x" {
		t.Errorf("%q", got)
	}
}
