//go:build linux && e2e

package servers

import (
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// TestLeftAlone: what a server does when nobody has asked for minutes or days shows without
// waiting for that long, and what an honest one does then is no doubt.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	sandboxtest.Need(t, "faketime")
	probeTwins(t, "waiter", "left alone on a fast clock: ", func(o *probetest.Request) { o.Alone = true })
}

// probeTwins probes a server of ours in Python and JavaScript: the hostile one is found by its deed in a run whose evidence
// begins with how, and the honest one is quiet.
func probeTwins(t *testing.T, name, how string, set func(*probetest.Request)) {
	t.Helper()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python", "node")
	for program, suffix := range map[string]string{"python3": ".py", "node": ".cjs"} {
		for _, twin := range []string{"hole", "honest"} {
			// The sample has each twin and each language once.
			if !scale.Deep() && (twin == "hole") != (suffix == ".py") {
				continue
			}
			t.Run(twin+suffix, func(t *testing.T) {
				t.Parallel()
				l := probetest.New(t)
				o := l.Options("local", program, l.Source(t, name, suffix), twin)
				o.Network, o.Timeout, o.Limits = plan.NetworkNone, time.Minute, plan.DefaultLimits
				set(&o)
				res := l.ProbeWithin(4*time.Minute, o)
				found := false
				for _, f := range res.Findings {
					deed := twin == "hole" && strings.Contains(f.Message, "~/.profile")
					found = found || deed && strings.HasPrefix(f.Evidence[0].Text, how)
					if !deed && f.Severity.Rank() >= finding.Medium.Rank() {
						t.Errorf("%+v", f)
					}
				}
				if found != (twin == "hole") || len(res.Inconclusive) > 0 && twin == "honest" {
					t.Errorf("found: %t; %s %q %+v", found, res.Verdict, res.Inconclusive, res.Findings)
				}
			})
		}
	}
}
