//go:build linux && e2e

package servers

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// Who asks whether secrets are there, and opens none, looks for them; who goes through all of
// HOME does not.
func TestLooksForSecrets(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python", "strace", "bpf")
	for _, c := range []struct {
		tracer, kind string
		want         bool
	}{{"ebpf", "exists", true}, {"strace", "links", true}, {"strace", "walk", false}} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t)
			o := l.Options("local", "python3", l.Source(t, "seeker", ".py"), c.kind)
			o.Limits, o.Tracer = plan.DefaultLimits, c.tracer
			res := l.Probe(o)
			if got := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM216" }); got != c.want {
				t.Errorf("a search is found: %v: %s %v", got, res.Verdict, res.Findings)
			}
		})
	}
}
