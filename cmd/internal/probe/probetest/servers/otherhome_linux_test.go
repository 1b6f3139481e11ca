//go:build linux && e2e

package servers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestStartInOtherHome: a server that reads what it finds in /root finds nothing
// as an ordinary user, and all of it in one more start. Its honest twin, which only
// asks whether there is a /root, is started once.
func TestStartInOtherHome(t *testing.T) {
	t.Parallel()
	for _, backend := range probetest.Paired(t.Name()) {
		for _, twin := range []string{"hole", "honest"} {
			if backend == "docker" && twin == "honest" {
				continue // what is looked at there does not depend on the sandbox
			}
			t.Run(backend+"/"+twin, func(t *testing.T) {
				t.Parallel()
				probetest.Need(t, backend)
				sandboxtest.Need(t, "python")
				l := probetest.New(t)
				o := moody(l, t, "root", twin)
				o.Sandbox = backend
				res := l.Probe(o)
				tried, read := false, false
				for _, f := range res.Findings {
					tried = tried || f.Rule == "CM101" && f.Severity == finding.Low && f.Rung == finding.RungAttempted && strings.Contains(f.Message, "tried to open /root/.ssh/id_rsa")
					read = read || f.Rule == "CM101" && f.Severity == finding.High && f.Rung == finding.RungRead && strings.HasPrefix(f.Evidence[0].Text, "with /root as its HOME: opened ~/.ssh/id_rsa")
				}
				_, err := os.Stat(filepath.Join(l.LogDir(), "home", "trace.jsonl"))
				if hole := twin == "hole"; tried != hole || read != hole || errors.Is(err, os.ErrNotExist) == hole {
					t.Errorf("tried: %t, read: %t, started again: %v; %s %q %+v", tried, read, err, res.Verdict, res.Inconclusive, res.Findings)
				}
			})
		}
	}
}
