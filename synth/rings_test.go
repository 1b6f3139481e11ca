package synth

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// A polygon that is refused because its ring is open gets a closed one, wherever it stands.
func TestRingsAreClosed(t *testing.T) {
	t.Parallel()
	const number, list = `{"type":"number"}`, `{"type":"array","minItems":1,"items":`
	ring := list + list + number + `,"maxItems":2}}`
	for name, schema := range map[string]string{
		"a ring":        `{"type":"object","properties":{"ring":` + ring + `},"required":["ring"]}`,
		"a polygon":     `{"type":"object","properties":{"polygon":` + list + ring + `}},"required":["polygon"]}`,
		"several":       `{"type":"object","properties":{"polygons":` + list + list + ring + `}}},"required":["polygons"]}`,
		"in a geometry": `{"type":"object","properties":{"geometry":{"type":"object","properties":{"coordinates":` + list + ring + `}},"required":["coordinates"]}},"required":["geometry"]}`,
	} {
		f := newFake(tool("area", schema))
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			var args any
			if json.Unmarshal(raw, &args) != nil || !allClosed(args) {
				return refusal("First and last Position are not equivalent."), nil
			}
			return success("ok"), nil
		}
		if r := drive(t, f, Config{Calls: 3}); r.Tools[0].OK == 0 {
			t.Errorf("%s: no call succeeded: %q", name, f.log)
		}
	}
}

// allClosed reports whether every ring within a value has four positions or more, and ends where it begins.
func allClosed(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !allClosed(e) {
				return false
			}
		}
	case []any:
		if isRing(v) {
			first, _ := json.Marshal(v[0])
			last, _ := json.Marshal(v[len(v)-1])
			return len(v) >= 4 && string(first) == string(last)
		}
		for _, e := range v {
			if !allClosed(e) {
				return false
			}
		}
	}
	return true
}
