//go:build linux && e2e

package servers

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// TestServerRequestsAreDeclined checks that a server which asks for a model's
// answer, a user's or the roots gets none, that request and refusal are in the
// log, and that asking for what was never offered is a finding: a user can be asked.
func TestServerRequestsAreDeclined(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	l := probetest.New(t)
	o := l.Options("local", oracles(l, t, "python", "asks", "hole")...)
	o.Timeout, o.ShrinkTime = time.Minute, time.Nanosecond
	res := l.Probe(o)
	asked, declined := requests(t, l.LogDir())
	for _, method := range []string{"sampling/createMessage", "elicitation/create", "roots/list"} {
		if asked[method] == 0 || declined[method] != asked[method] {
			t.Errorf("%s was asked for %d times and declined %d times", method, asked[method], declined[method])
		}
		found := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM404" && strings.Contains(f.Message, method) })
		if offered := method == "elicitation/create"; found == offered {
			t.Errorf("%s: a finding %t, offered %t: %+v", method, found, offered, res.Findings)
		}
	}
}

// requests counts the requests of the fixture's own in a log, and the refusals of each.
func requests(t *testing.T, dir string) (asked, declined map[string]int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	r, err := session.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	asked, declined = map[string]int{}, map[string]int{}
	for f, err := range r.Frames() {
		if err != nil {
			t.Fatal(err)
		}
		var m wire.Message
		var id string
		var answer struct{ Action string }
		if json.Unmarshal(f.Message, &m) != nil || json.Unmarshal(m.ID, &id) != nil || !strings.HasPrefix(id, "asks ") {
			continue
		}
		method := strings.TrimPrefix(id, "asks ")
		switch {
		case f.Dir == session.S2C && m.Method == method:
			asked[method]++
		case f.Dir == session.C2S && (m.Error != nil && m.Error.Code == -32601 || json.Unmarshal(m.Result, &answer) == nil && answer.Action == "decline"):
			declined[method]++
		}
	}
	return asked, declined
}
