//go:build linux && e2e

package servers

import (
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestSecretsInCiphertext: nobody can read what the server returns, and whether secrets are in
// it shows in runs with others. Nobody asks for these runs.
func TestSecretsInCiphertext(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	for _, twin := range []string{"hole", "honest"} {
		t.Run(twin, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t)
			o := l.Options("local", "python3", l.Source(t, "sealer", ".py"), twin)
			o.ShrinkTime, o.Network, o.Timeout, o.Limits = time.Nanosecond, plan.NetworkNone, time.Minute, plan.DefaultLimits
			o.Rounds = leastRounds
			res := l.ProbeWithin(4*time.Minute, o)
			// Both twins are one source, which goes through the keys of the environment: the audit says so of each.
			ofSource := func(f finding.Finding) bool {
				return f.Severity.Rank() >= finding.High.Rank() && f.Rule != audit.EnvCredential
			}
			if twin == "honest" && (len(res.Findings)+len(res.Inconclusive) != 0 || slices.ContainsFunc(res.Audit.Findings, ofSource)) {
				t.Errorf("%s: %+v %+v %q", res.Verdict, res.Findings, res.Audit.Findings, res.Inconclusive)
			}
			if twin == "hole" && (len(res.Findings) != 1 || res.Findings[0].Rule != "CM111" || res.Findings[0].Severity != finding.High) {
				t.Errorf("%s: %+v %q", res.Verdict, res.Findings, res.Inconclusive)
			}
		})
	}
}
