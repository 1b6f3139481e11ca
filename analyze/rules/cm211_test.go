package rules

import (
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A command that comes over a port of the server's and runs is the worst that a listener does.
func TestOpenShell(t *testing.T) {
	ran := func(tool string, words ...string) finding.Effect {
		return effect(tool, finding.Exec, "/bin/"+words[0], argv(words...))
	}
	for name, c := range map[string]struct {
		effect finding.Effect
		want   int
	}{
		"by a shell":  {ran(session.ListenerTool, "sh", "-c", session.ListenerLine+"\n"), 1},
		"by itself":   {ran(session.ListenerTool, session.ListenerLine), 1},
		"another one": {ran(session.ListenerTool, "git", "status"), 0},
		"in a call":   {ran("do", session.ListenerLine), 0},
	} {
		if got := newRun(silent, c.effect).openShell(); len(got) != c.want || c.want > 0 && got[0].Severity != finding.Critical {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
