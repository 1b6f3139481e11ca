package profile

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// A request is the input's own only where its token stands before anything that
// the host could have, and the host is the one aimed at.
func TestRequestsOfAnInput(t *testing.T) {
	for _, c := range []struct {
		name, dest string
		paths      []string
		want       []finding.Request
	}{
		{"as named", "169.254.169.254:80", []string{"/latest/k3", "/latest/k3"}, []finding.Request{{Path: "/latest/k3", Given: true}}},
		{"with more behind it", "169.254.169.254:80", []string{"/k3/picture.png?size=3"}, []finding.Request{{Path: "/k3/picture.png?size=3", Given: true}}},
		{"and another", "169.254.169.254:80", []string{"/latest/k3", "/latest/user-data"}, []finding.Request{{Path: "/latest/k3", Given: true}, {Path: "/latest/user-data"}}},
		{"the token behind", "169.254.169.254:80", []string{"/latest/meta-data/?k3"}, []finding.Request{{Path: "/latest/meta-data/?k3"}}},
		{"another host", "8.8.4.4:80", []string{"/latest/k3"}, []finding.Request{{Path: "/latest/k3"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := builder()
			b.Mark(&session.Mark{Kind: "call", Call: 1, Tool: "tool1", Time: time.Second, Oracles: []session.Injection{{Oracle: session.OracleFetch, Token: "k3", Host: "169.254.169.254"}}})
			for i, path := range c.paths {
				at := time.Second + time.Duration(i+1)*time.Millisecond
				flow := trace.Flow{Type: trace.FlowOpen, Flow: uint64(i + 1), Proto: "tcp", App: "http/1.1", Dest: netip.MustParseAddrPort(c.dest), Stamp: at}
				b.Flow(&flow)
				flow.Type, flow.Method, flow.Path = trace.FlowRequest, "GET", path
				b.Flow(&flow)
			}
			b.Mark(&session.Mark{Kind: "return", Call: 1, Time: 2 * time.Second})
			p := b.Profile()
			if len(p.Effects) != 1 {
				t.Fatalf("%+v", p.Effects)
			}
			if d := cmp.Diff(c.want, p.Effects[0].Requests); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRequestsAreBounded(t *testing.T) {
	var list []finding.Request
	for i := range 2 * finding.MaxRequests {
		list = askedOnce(list, finding.Request{Path: string(rune('a' + i)), Given: true})
	}
	list = askedOnce(list, finding.Request{Path: "/secret"})
	if len(list) != finding.MaxRequests || list[0] != (finding.Request{Path: "/secret"}) {
		t.Errorf("%d are kept, the first is %+v", len(list), list[0])
	}
}
