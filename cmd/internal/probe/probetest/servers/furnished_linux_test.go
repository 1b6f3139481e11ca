//go:build linux && e2e

package servers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// shelf reads a directory that no sandbox has.
const shelf = `import json, os, sys
TOOLS = [{"name": "count_items", "description": "Counts the files of the shelf in /data/shelf.", "inputSchema": {"type": "object", "properties": {}}}]
for line in sys.stdin:
    m = json.loads(line)
    if m.get("id") is None:
        continue
    r = {}
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "shelf", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": TOOLS}
    elif m["method"] == "tools/call":
        try:
            r = {"content": [{"type": "text", "text": str(len(os.listdir("/data/shelf")))}]}
        except OSError as e:
            r = {"content": [{"type": "text", "text": str(e)}], "isError": True}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`

// A tool that refuses for want of a directory is looked at in a further start that has it.
func TestAMissingDirectoryIsMade(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	l := probetest.New(t)
	if err := os.MkdirAll(l.Path(""), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Path("server.py"), []byte(shelf), 0o644); err != nil {
		t.Fatal(err)
	}
	o := l.Options("local", "python3", l.Path("server.py"))
	o.Timeout = time.Minute
	res := l.Probe(o)
	if res.Verdict != analyze.Clean || res.Coverage.Reach != nil {
		t.Errorf("%s, %q, %+v", res.Verdict, res.Inconclusive, res.Coverage.Reach)
	}
	data, err := os.ReadFile(filepath.Join(l.LogDir(), session.IndexFile))
	if err != nil || !strings.Contains(string(data), `furnished`) {
		t.Errorf("the index names no start with the directory, %v", err)
	}
}
