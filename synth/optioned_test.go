package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// A tool that wants one of its optional arguments, and does not say so, is tried with each alone.
func TestOptionsAreTriedOneAtATime(t *testing.T) {
	t.Parallel()
	f := newFake(wire.Tool{Name: "chart", InputSchema: json.RawMessage(`{"type":"object","properties":{"sheet":{"type":"string"},"at":{"type":"string"},"title":{"type":"string"},"colour":{"type":"string"}},"required":["sheet"]}`)})
	answered := false
	f.tool = func(_ string, args json.RawMessage) (client.Result, error) {
		var given map[string]json.RawMessage
		if json.Unmarshal(args, &given) == nil && len(given) == 2 && given["colour"] != nil && given["sheet"] != nil {
			answered = true
			return success("done"), nil
		}
		return refusal("this chart cannot be made"), nil
	}
	drive(t, f, Config{Calls: 4})
	if !answered {
		t.Errorf("no call had the option:\n%s", strings.Join(f.log, "\n"))
	}
}
