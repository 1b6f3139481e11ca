//go:build linux && e2e

package servers

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// TestServerRequestsAreAnswered checks that a server which asks for a model's answer
// gets a plain one, so many times, that one which asks for the roots gets them, that a
// user declines, that both ways are in the log, and that asking is no finding.
func TestServerRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	l := probetest.New(t)
	o := l.Options("local", oracles(l, t, "python", "asks", "hole")...)
	o.Timeout, o.ShrinkTime = time.Minute, time.Nanosecond
	res := l.Probe(o)
	const sampled = 64 // at most
	asked, declined := requests(t, l.LogDir())
	for method, answered := range map[string]int{"sampling/createMessage": min(asked["sampling/createMessage"], sampled), "elicitation/create": 0, "roots/list": asked["roots/list"]} {
		if asked[method] == 0 || declined[method] != asked[method]-answered {
			t.Errorf("%s was asked for %d times and declined %d times, want %d answers", method, asked[method], declined[method], answered)
		}
	}
	for _, f := range res.Findings {
		if f.Rule == "CM404" {
			t.Errorf("%+v", f)
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
