package synth

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// A tool is called as its declaration shows: arguments that go together, what is required beside them, and texts of
// the caller's own in place of those that stand for them.
func TestExamples(t *testing.T) {
	t.Parallel()
	find := tool("find", `{"type":"object","properties":{"action":{"type":"string"},"source":{"type":"string"},"path":{"type":"string"},"unit":{"enum":["m"]}},"required":["action","unit"],"examples":[{"action":"count"}]}`)
	find.Description = `"options of X" → {"action": "info", "source": "nix-dev"}` + "\n" + `find(action="read", path="/path/to/file", unit="m")` + "\n" + `{"answer": 1}`
	f := newFake(find)
	f.surface.Instructions = `Begin with find(action="begin", unit="m").`
	f.tool = func(string, json.RawMessage) (client.Result, error) { return success("ok"), nil }
	drive(t, f, Config{Calls: 2})
	for _, want := range []string{`find {"action":"count","unit":"m"}`, `find {"action":"begin","unit":"m"}`, `find {"action":"info","source":"nix-dev","unit":"m"}`} {
		if !slices.Contains(f.log, want) {
			t.Errorf("no %s in %q", want, f.log)
		}
	}
	read := slices.IndexFunc(f.log, func(s string) bool {
		var args struct{ Action, Path string }
		return json.Unmarshal([]byte(s[len("find "):]), &args) == nil && args.Action == "read" && args.Path != "" && args.Path != "/path/to/file"
	})
	if read < 0 {
		t.Errorf("no path of a file that is there in %q", f.log)
	}
}
