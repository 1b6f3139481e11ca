//go:build linux && e2e

package servers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A server that needs a key is started with a made-up one, and the report says so. It works with a dummy of
// the user's too, of which no file tells more than a command line needs.
func TestADummyForAKey(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	const dummy = "sk-0123456789abcdef01234567"
	l := probetest.New(t)
	o := moody(l, t, "needs", "honest")
	res := l.Probe(o)
	if r := res.Coverage.Reach; res.Verdict != analyze.Clean || r == nil || !slices.Equal(r.Variables, []string{"GREETER_API_KEY"}) || !strings.Contains(res.Run.Reproduce, "--env GREETER_API_KEY=") {
		t.Errorf("%s, %+v, %q, %s", res.Verdict, r, res.Inconclusive, res.Run.Reproduce)
	}
	o.Dummies = map[string]string{"GREETER_API_KEY": dummy, "GREETER_MODE": "kind"}
	o.Timeout = time.Minute
	res = l.Probe(o)
	if res.Verdict != analyze.Clean || !strings.Contains(res.Run.Reproduce, "--env GREETER_MODE=kind") || !strings.Contains(res.Run.Reproduce, "--env 'GREETER_API_KEY=[passed]'") {
		t.Errorf("%s, %q, %s", res.Verdict, res.Inconclusive, res.Run.Reproduce)
	}
	for _, name := range []string{session.FramesFile, session.TraceFile, report.FileJSON, report.FileHTML} {
		data, err := os.ReadFile(filepath.Join(l.LogDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), dummy) {
			t.Errorf("%s tells the value", name)
		}
	}
}
