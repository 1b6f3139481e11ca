//go:build linux && e2e

package servers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// TestNamesThatCannotExist: a server that stays idle where a nonsense name resolves acts
// in the first start, one that waits for such a name acts in one more, in which it does.
func TestNamesThatCannotExist(t *testing.T) {
	t.Parallel()
	for mode, how := range map[string]string{"unregistered": "", "registered": "with every name resolved: "} {
		if mode == "unregistered" && !scale.Deep() {
			continue // what it needs is a part of what the other needs
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			probetest.Need(t, "local")
			sandboxtest.Need(t, "python")
			l := probetest.New(t)
			o := moody(l, t, mode, "hole")
			o.Network = plan.NetworkSinkhole
			res := l.Probe(o)
			read := false
			for _, f := range res.Findings {
				read = read || f.Rule == "CM101" && strings.HasPrefix(f.Evidence[0].Text, how+"opened ~/.ssh/id_rsa")
			}
			_, err := os.Stat(filepath.Join(l.LogDir(), "names", "trace.jsonl"))
			if !read || errors.Is(err, os.ErrNotExist) {
				t.Errorf("read: %t, started again: %v; %s %q %+v", read, err, res.Verdict, res.Inconclusive, res.Findings)
			}
		})
	}
}
