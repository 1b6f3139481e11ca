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
)

// TestElsewhere: what a server does on another operating system alone shows, and an honest branch for it is no doubt.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python", "node")
	for program, suffix := range map[string]string{"python3": ".py", "node": ".cjs"} {
		for _, twin := range []string{"hole", "honest"} {
			t.Run(twin+suffix, func(t *testing.T) {
				t.Parallel()
				l := probetest.New(t)
				o := l.Options("local", program, l.Source(t, "elsewhere", suffix), twin)
				o.Network, o.Timeout, o.Limits = plan.NetworkNone, time.Minute, plan.DefaultLimits
				res := l.ProbeWithin(4*time.Minute, o)
				found := false
				for _, f := range res.Findings {
					deed := twin == "hole" && strings.Contains(f.Message, "~/.profile")
					found = found || deed && strings.HasPrefix(f.Evidence[0].Text, "as if on ")
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
