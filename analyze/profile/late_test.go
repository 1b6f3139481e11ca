package profile

import (
	"net/netip"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// What the log has of a flow after its end is searched all the same.
func TestDataAfterTheEnd(t *testing.T) {
	secret := canaries.Canary{ID: "late", Kind: "token", Value: "wq8ZrT5kLm2NxB7vCdE4"}
	b := NewBuilder(Context{Home: "/home/dana", Canaries: []canaries.Canary{secret}})
	to := netip.MustParseAddrPort("198.18.0.7:443")
	flow := func(kind, data string) {
		b.Flow(&trace.Flow{Type: kind, Flow: 1, Proto: "tcp", Dest: to, Host: "api.example.org", View: trace.ViewWire, Data: []byte(data)})
	}
	flow(trace.FlowOpen, "")
	flow(trace.FlowData, "hello ")
	flow(trace.FlowClose, "")
	flow(trace.FlowData, secret.Value)
	for _, e := range b.Profile().Effects {
		if e.Kind == finding.Secret && e.Target == secret.ID && e.Rung == finding.RungLeft {
			return
		}
	}
	t.Error("a decoy that was sent after the end was not found")
}
