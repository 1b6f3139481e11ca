//go:build linux && e2e

package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// notebook answers with an id of its own for each start, and takes its time.
const notebook = `import json, sys, time, uuid
def tool(name, arg):
    return {"name": name, "description": name, "inputSchema": {"type": "object", "properties": {arg: {"type": "string"}}, "required": [arg]}}
tools = [tool("create_note", "text"), tool("get_note", "note_id"), tool("open_note", "path")]
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    r = {}
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "notebook", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": tools}
    elif m["method"] == "tools/call":
        time.sleep(int(uuid.uuid4()) % 20 / 1000)
        r = {"content": [{"type": "text", "text": json.dumps({"note_id": str(uuid.uuid4())})}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`

// logged opens the log of the probe that wrote below out.
func logged(t *testing.T, out string) *session.Reader {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(out, "*", session.TraceFile))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d logs below %s: %v", len(found), out, err)
	}
	root, err := os.OpenRoot(filepath.Dir(found[0]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	log, err := session.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// planned are the calls that a log says were drawn before the first one, and whether any
// call learned from an answer.
func planned(t *testing.T, log *session.Reader) (plan []string, adapts bool) {
	t.Helper()
	for line, err := range log.Trace() {
		if err != nil {
			t.Fatal(err)
		}
		m := line.Mark
		switch {
		case m == nil:
		case m.Kind == session.MarkPlanned:
			plan = append(plan, fmt.Sprintf("%d %s %s %s", m.N, m.What, m.Tool, m.Text))
		case m.Kind == session.MarkCall:
			adapts = adapts || len(m.From) > 0
		}
	}
	return plan, adapts
}

// recordedCalls are the calls that reached a server, as they stand in its log.
func recordedCalls(t *testing.T, log *session.Reader) []string {
	t.Helper()
	r, err := synth.Recorded(log)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range r.Steps {
		out = append(out, s.What+" "+s.Name+" "+string(s.Args))
	}
	return out
}

// TestSameSeed wants one first round of two runs of a seed, whatever the server answered,
// and of a run that is replayed from its log the same calls.
func TestSameSeed(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	var logs []*session.Reader
	l := probetest.New(t)
	if err := os.WriteFile(l.Path("server.py"), []byte(notebook), 0o644); err != nil {
		t.Fatal(err)
	}
	o := l.Options("local", "python3", l.Path("server.py"))
	o.Calls, o.Unaudited = 4, true
	for _, out := range []string{"first", "second"} {
		o.Out = l.Out + "-" + out
		l.Probe(o)
		logs = append(logs, logged(t, o.Out))
	}
	a, adapts := planned(t, logs[0])
	if b, _ := planned(t, logs[1]); len(a) != 3 || !slices.Equal(a, b) || !adapts {
		t.Errorf("%q\n%q, adapts %v", a, b, adapts)
	}
	replay, err := synth.Recorded(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	o.Replay, o.Out = replay, l.Out+"-replay"
	l.Probe(o)
	again := recordedCalls(t, logged(t, o.Out))
	if was := recordedCalls(t, logs[0]); !slices.Equal(was, again) {
		t.Errorf("%d calls, and %d again:\n%s\n%s", len(was), len(again), strings.Join(was, "\n"), strings.Join(again, "\n"))
	}
}
