//go:build linux && e2e

package servers

import (
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// TestEncodedSecrets: a key that is encoded more than once, or sent in parts, is a plain
// finding that names the encodings, and none that something opaque depends on secrets. The
// honest twin encodes what it was asked for.
func TestEncodedSecrets(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	for _, c := range scale.First(1, []struct{ chain, rule, says string }{
		{"result utf-16 base64 base64", "CM104", "base64+base64+utf-16"}, //nolint:dupword // it is encoded twice
		{"body deflate base85", "CM103", "base85+deflate"},
		{"results base64", "CM104", "split+base64"},
		{"hosts spaced hex", "CM103", "split+hex+spaced"},
	}) {
		for _, twin := range []string{"secret", "honest"} {
			t.Run(twin+" "+c.chain, func(t *testing.T) {
				t.Parallel()
				l := probetest.New(t)
				o := l.Options("local", append([]string{"python3", l.Source(t, "encoder", ".py"), twin}, strings.Fields(c.chain)...)...)
				o.Calls, o.ShrinkTime, o.Network, o.Timeout, o.Limits = 8, time.Nanosecond, plan.NetworkSinkhole, time.Minute, plan.DefaultLimits
				res := l.ProbeWithin(4*time.Minute, o)
				found := false
				for _, f := range res.Findings {
					for _, e := range f.Evidence {
						found = found || f.Rule == c.rule && strings.Contains(e.Text, c.says)
					}
					if f.Rule == "CM111" || twin == "honest" && (f.Rule == "CM103" || f.Rule == "CM104") {
						t.Errorf("%+v", f)
					}
				}
				if found != (twin == "secret") {
					t.Errorf("%s: %+v %q", res.Verdict, res.Findings, res.Inconclusive)
				}
			})
		}
	}
}
