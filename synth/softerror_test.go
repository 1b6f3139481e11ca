package synth

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

func TestSoftErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Error: unknown channel":                           true,
		"❌ Failed to load the page":                        true,
		"Validation error: 'unit' is required":             true,
		"Could not find it":                                true,
		`{"success": false, "message": "no such id"}`:      true,
		` {"error": "no such id"}`:                         true,
		`{"status": "error", "detail": 3}`:                 true,
		"":                                                 false,
		"The error was found in line 3":                    false,
		"Errorless text":                                   false,
		"No errors":                                        false,
		`{"error": null, "result": 3}`:                     false,
		`{"error": "none", "result": 3}`:                   false,
		`{"errors": ["unused variable"]}`:                  false,
		`{"error": {}, "status": "done"}`:                  false,
		`{"success": true, "note": "Error: is not there"}`: false,
		`{"error": "cut sho`:                               false,
		`["error"]`:                                        false,
	} {
		if got := isSoftError(success(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// What a handler returns in place of an error teaches what an error does, and counts as an answer.
func TestSoftErrorsTeach(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said func(text string) client.Result
		text string
	}{
		"an error":       {refusal, "the id has to be a number such as 4711"},
		"a soft error":   {success, "Error: unknown unit. Valid units: furlong, fathom"},
		"an object":      {success, `{"success": false, "error": "unknown unit. Valid units: furlong, fathom"}`},
		"another answer": {success, "It is 3 metres. Valid units: furlong, fathom"},
	} {
		f := newFake(tool("convert", `{"type":"object","properties":{"unit":{"type":"string"}},"required":["unit"]}`))
		taught := 0
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			var args struct{ Unit string }
			if json.Unmarshal(raw, &args) == nil && (args.Unit == "furlong" || args.Unit == "fathom") {
				taught++
				return success("one"), nil
			}
			return c.said(c.text), nil
		}
		r := drive(t, f, Config{Calls: 3})
		if want := name == "a soft error" || name == "an object"; taught > 0 != want {
			t.Errorf("%s: the units were given %d times: %q", name, taught, f.log)
		}
		if want := name != "an error"; r.Tools[0].OK > 0 != want {
			t.Errorf("%s: %d answers", name, r.Tools[0].OK)
		}
	}
}
