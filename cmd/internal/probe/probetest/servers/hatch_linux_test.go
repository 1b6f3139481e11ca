//go:build linux && e2e

package servers

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// Who listens on a port of UDP or a unix socket is spoken to as on one of TCP.
func TestHatches(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	for _, kind := range scale.One(t.Name(), []string{"udp", "unix"}) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t)
			o := l.Options("local", "python3", l.Source(t, "hatch", ".py"), kind)
			o.Limits = plan.DefaultLimits
			res := l.Probe(o)
			if !slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM211" && f.Severity == finding.Critical }) {
				t.Errorf("nobody spoke to it: %s %v", res.Verdict, res.Findings)
			}
		})
	}
}
