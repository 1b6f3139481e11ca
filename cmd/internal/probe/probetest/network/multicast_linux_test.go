//go:build linux && e2e

package network

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// TestMulticastIsAnAttempt: what a call sends to a group, where nobody answers, is
// seen with its payload, and is an effect of that call.
func TestMulticastIsAnAttempt(t *testing.T) {
	t.Parallel()
	for _, backend := range probetest.Paired(t.Name()) {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			probetest.Need(t, backend)
			l := probetest.New(t, "caller")
			o := l.Options(backend, l.Path("caller"))
			groups := []string{"224.0.0.251:5353", "239.255.255.250:1900", "255.255.255.255:9", "[ff02::1]:9", "[ff02::fb%lo]:5353"}
			var list []*called
			for _, g := range groups {
				list = append(list, &called{how: "announce", url: "udp://" + strings.Replace(g, "%", "%25", 1)})
			}
			calls(&o, list, nil)
			res := l.Probe(o)
			payloads := map[string]bool{}
			for f := range l.Flows() {
				payloads[string(f.Data)] = true
			}
			for i, g := range groups {
				if got := list[i].text(); got != "said" {
					t.Errorf("%s: %q", g, got)
				}
				u, err := url.Parse(list[i].url)
				if err != nil {
					t.Fatal(err)
				}
				if !payloads["said to "+u.Host] {
					t.Errorf("what was sent to %s was not seen", g)
				}
				target := strings.Replace(g, "%lo", "", 1)
				if !slices.ContainsFunc(res.Observed, func(e finding.Effect) bool {
					return e.Kind == finding.NetConnect && e.Target == target && e.Tool == "call" && e.Call == i+1
				}) {
					t.Errorf("%s is not an effect of call %d: %+v", target, i+1, res.Observed)
				}
			}
		})
	}
}
