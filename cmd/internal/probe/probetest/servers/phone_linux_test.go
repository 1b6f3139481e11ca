//go:build linux && e2e

package servers

import (
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

// phoners are servers that reach out at their start, and whom.
var phoners = map[string]struct {
	command []string
	host    string
	// usage is the host that is told how the server was used when it ends.
	usage string
}{
	"chrome-devtools": {[]string{"node", "npm/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js", "--headless", "--executablePath", "/usr/bin/no-browser"}, "registry.npmjs.org:443", "play.googleapis.com:443"},
}

// TestPhoneHome wants the egress of a server's start told as one finding, by the
// name of the host, and nothing beside it but what is told of its use: npm, which the server asks, reads its
// own configuration. The server's source is not
// audited: what stands there does not depend on the network.
func TestPhoneHome(t *testing.T) {
	t.Parallel()
	for name, p := range phoners {
		if !scale.Part(name, 3) {
			continue // it waits for minutes; TestSecondStart has a server that reaches out at its start
		}
		for _, backend := range probetest.Paired(name) {
			t.Run(name+"/"+backend, func(t *testing.T) {
				t.Parallel()
				probetest.Need(t, backend)
				l := probetest.New(t)
				o := l.Options(backend, real{command: p.command}.in(probetest.Installed(t, "node"))...)
				o.Calls, o.Timeout, o.CallTimeout, o.Limits = 1, 50*time.Second, 12*time.Second, plan.DefaultLimits
				o.Unaudited = true
				said := 0
				for _, f := range l.ProbeWithin(3*time.Minute, o).Findings {
					if f.Rule == "CM209" && f.Severity == finding.Low && f.Phase == finding.PhaseShutdown && strings.Contains(f.Message, p.usage) {
						continue
					}
					if f.Rule != "CM207" || f.Severity.Rank() > finding.Low.Rank() || !strings.Contains(f.Message, p.host) {
						t.Errorf("%s %s: %s", f.Severity, f.Rule, f.Message)
						continue
					}
					said++
				}
				if said != 1 {
					t.Errorf("the egress of the start was told %d times", said)
				}
			})
		}
	}
}
