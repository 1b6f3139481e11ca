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
		"not at a time": {`{"type":"object","properties":{"data":{"type":"string"},"data_id":{"type":"string"},"deep":{"type":"boolean"}}}`,
			"data and data_id cannot be specified simultaneously.",
			func(args map[string]any) bool { return args["data"] == nil || args["data_id"] == nil }},
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

// A property that a refusal asks for is given, also within an argument that is an object.
func TestDemandedProperties(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema, refusal string
		takes           func(args map[string]any) bool
	}{
		"of the arguments": {`{"type":"object","properties":{"name":{"type":"string"},"range":{"type":"string"}},"required":["name"]}`,
			"Give `range` to create a table.",
			func(args map[string]any) bool { return args["range"] != nil }},
		"within one": {`{"type":"object","properties":{"rule":{"type":"object","properties":{"type":{"type":"string"},"fill_color":{"type":"string"},"width":{"type":"integer"}},"required":["type"]}},"required":["rule"]}`,
			"such rules need a fill_color",
			func(args map[string]any) bool {
				rule, _ := args["rule"].(map[string]any)
				return rule["fill_color"] != nil
			}},
	} {
		f := newFake(tool("make", c.schema))
		refused := 0
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			var args map[string]any
			if json.Unmarshal(raw, &args) != nil || !c.takes(args) {
				refused++
				return refusal(c.refusal), nil
			}
			return success("ok"), nil
		}
		if drive(t, f, Config{Calls: 2}); refused > 1 {
			t.Errorf("%s: refused %d times: %q", name, refused, f.log)
		}
	}
}
