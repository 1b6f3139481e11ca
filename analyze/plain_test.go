package analyze_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Lost pieces of TLS are a gap where a flow was taken to be read there alone, and a flow that stays
// opaque is one gap, whose remedy says what failed.
func TestLostPiecesOfTLS(t *testing.T) {
	t.Parallel()
	const request = "GET / HTTP/1.1\r\nHost: pinned.example.org\r\n\r\n"
	for name, c := range map[string]struct {
		lost       *session.EventLoss
		read, skip bool // the flow is read before encryption; there is no flow
		want       session.Code
		remedy     string
	}{
		"nothing lost, all read":     {read: true},
		"lost, all read":             {lost: &session.EventLoss{Code: session.GapTLSLost, N: 3, Reason: "no room"}, read: true, want: session.GapTLSLost, remedy: "less busy machine"},
		"a library failed, all read": {lost: &session.EventLoss{Code: session.GapTLSLost, Reason: "set a probe"}, read: true},
		"lost, no flow":              {lost: &session.EventLoss{Code: session.GapTLSLost, N: 3, Reason: "no room"}, skip: true},
		"lost, opaque":               {lost: &session.EventLoss{Code: session.GapTLSLost, N: 3, Reason: "no room"}, want: session.GapPayloadOpaque, remedy: "no room"},
		"a library failed, opaque":   {lost: &session.EventLoss{Code: session.GapTLSLost, Reason: "set a probe"}, want: session.GapPayloadOpaque, remedy: "set a probe"},
		"nothing lost, opaque":       {want: session.GapPayloadOpaque, remedy: "accept_opaque"},
		"something else, as before":  {lost: &session.EventLoss{Reason: "overrun"}, skip: true, want: session.GapRecordsLost, remedy: "less busy machine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := analyzetest.New(t, nil)
			l.Begin(`{"name":"get","description":"Gets a web page at a URL."}`)
			l.Call("get", `{}`, func() {
				if c.skip {
					return
				}
				from, to := netip.MustParseAddrPort("192.168.1.2:40000"), netip.MustParseAddrPort("198.18.0.7:443")
				l.Connect("198.18.0.7", 443, "")
				flow := trace.Flow{Type: trace.FlowOpen, Flow: 1, Proto: "tcp", Source: from, Dest: to, Host: "pinned.example.org", TLS: true, App: "tls"}
				l.Flow(flow)
				if c.read {
					l.Flow(trace.Flow{Type: trace.FlowPlain, Conn: 7, Whole: true, Proto: "tcp", TLS: true, Source: from, Dest: to, Data: []byte(request)})
				}
				flow.Type, flow.Opaque, flow.Up, flow.Kept, flow.Allowed = trace.FlowClose, true, 900, 900, true
				l.Flow(flow)
			}, nil)
			l.End()
			if c.lost != nil {
				l.Event(*c.lost)
			}
			res := l.Judge(analyze.Options{})
			switch {
			case c.want == "" && (len(res.Gaps) > 0 || res.Verdict == analyze.Inconclusive):
				t.Errorf("%s: %+v", res.Verdict, res.Gaps)
			case c.want != "" && (len(res.Gaps) != 1 || res.Gaps[0].Code != c.want || !strings.Contains(res.Gaps[0].Remedy, c.remedy)):
				t.Errorf("want one gap %s: %+v", c.want, res.Gaps)
			}
		})
	}
}
