//go:build linux && e2e

package network

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

// TestSecondStart: what a server sends to a port of the loopback address on
// which nobody listens is refused, and kept in a second start. A server that
// talks to a port of its own is started once.
func TestSecondStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		channel string
		again   bool
	}{{"loopback", true}, {"own", false}} {
		t.Run(c.channel, func(t *testing.T) {
			probetest.Need(t, "local")
			sandboxtest.Need(t, "python")
			l := probetest.New(t)
			list := []cell{{channel: c.channel, encoding: "base64.0", host: "localhost"}}
			res := send(l, "local", []string{"python3", copied(l, "sender.py")}, list)
			var sent []string
			for _, f := range res.Findings {
				if f.Rule == "CM103" && f.Severity == finding.High && f.Rung == finding.RungLeft && strings.Contains(f.Reproduce, "--network loopback ") {
					sent = append(sent, f.Evidence[len(f.Evidence)-1].Text)
				}
			}
			_, err := os.Stat(filepath.Join(l.LogDir(), "loopback", "trace.jsonl"))
			if started := !errors.Is(err, os.ErrNotExist); started != c.again || c.again != (len(sent) > 0) {
				t.Errorf("started again: %t, sent %q, findings %+v", started, sent, res.Findings)
			}
			for _, s := range sent {
				if !strings.HasPrefix(s, "with an answer on the loopback address: the secret aws-") || !strings.Contains(s, "127.0.0.1:8125 over http (base64") {
					t.Errorf("evidence %q", s)
				}
			}
		})
	}
}
