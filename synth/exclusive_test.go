package synth

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// Of properties that stand in for one another a tool gets one, also within an argument.
func TestOneOfSeveralProperties(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema, refusal string
		takes           func(args map[string]any) bool
	}{
		"within an argument": {`{"type":"object","properties":{"page":{"type":"object","properties":{"index":{"type":"integer"},"id":{"type":"string"}}}},"required":["page"]}`,
			"Provide exactly one of `index` or `id`. at page",
			func(args map[string]any) bool { page, _ := args["page"].(map[string]any); return len(page) == 1 }},
		"the second of two": {`{"type":"object","properties":{"name":{"type":"string"},"uuid":{"type":"string"},"deep":{"type":"boolean"}}}`,
			"name and uuid are mutually exclusive",
			func(args map[string]any) bool { return args["name"] == nil && args["uuid"] != nil }},
		"none of them given": {`{"type":"object","properties":{"text":{"type":"string"},"file":{"type":"string"}}}`,
			"You must give either text or file, and not both",
			func(args map[string]any) bool { return (args["text"] == nil) != (args["file"] == nil) }},
	} {
		f := newFake(tool("pick", c.schema))
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			var args map[string]any
			if json.Unmarshal(raw, &args) != nil || !c.takes(args) {
				return refusal(c.refusal), nil
			}
			return success("ok"), nil
		}
		if r := drive(t, f, Config{Calls: 3}); r.Tools[0].OK == 0 {
			t.Errorf("%s: no call succeeded: %q", name, f.log)
		}
	}
}
