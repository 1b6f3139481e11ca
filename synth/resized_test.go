package synth

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// A list is brought to the length that a refusal names beside its own.
func TestResized(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, text, want string }{
		{`{"rows":[[1]]}`, "number of rows (1) does not match the selection (3)", `{"rows":[[1],[1],[1]]}`},
		{`{"rows":[[1],[1],[1]]}`, "columns in row 0 (1) doesn't match 2", `{"rows":[[1,1],[1,1],[1,1]]}`},
		{`{"labels":["a","b"],"of":{"x":["c"]}}`, "expected 1 labels, got 2", `{"labels":["a"],"of":{"x":["c"]}}`},
		{`{"point":[4]}`, "ValueError: got 1 coordinates, but a point needs 2", `{"point":[4,4]}`},
		{`{"weights":[0.5]}`, "weights must have exactly 4 entries, 1 given", ""},
		{`{"weights":[0.5]}`, "weights must have exactly 4 entries but has 1", `{"weights":[0.5,0.5,0.5,0.5]}`},
		{`{"a":[1]}`, "expected 2, got 7", ""},
		{`{"a":[1]}`, "expected 5000 entries, got 1", ""},
		{`{"a":[1]}`, "line 1: not found", ""},
		{`{"a":"1"}`, "expected 2 values, got 1", ""},
		{`[`, "expected 2 values, got 1", ""},
	} {
		got := (&learner{}).resized(json.RawMessage(c.args), c.text)
		if string(got) != c.want {
			t.Errorf("%s for %s: %s, want %s", c.text, c.args, got, c.want)
		}
	}
}

// A tool whose list must be as long as another argument says is reached.
func TestLengthsAreLearned(t *testing.T) {
	t.Parallel()
	f := newFake(tool("set_row", `{"type":"object","properties":{"cells":{"type":"array","items":{"type":"array","items":{"type":"string"}}}},"required":["cells"]}`))
	f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
		var args struct{ Cells [][]string }
		if json.Unmarshal(raw, &args) != nil {
			return refusal("bad"), nil
		}
		if len(args.Cells) != 5 {
			return refusal(fmt.Sprintf("the number of rows (%d) does not match the size of the range (5)", len(args.Cells))), nil
		}
		for i, row := range args.Cells {
			if len(row) != 4 {
				return refusal(fmt.Sprintf("row %d: expected 4 cells, got %d", i, len(row))), nil
			}
		}
		return success("ok"), nil
	}
	if r := drive(t, f, Config{Calls: 3}); r.Tools[0].OK == 0 {
		t.Errorf("no call succeeded: %q", f.log)
	}
}
