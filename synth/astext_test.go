package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// A tool that takes the text of a document gets one of the type that its argument, its refusal or its description names.
func TestDocumentsAsTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argument, described, tool, refusal, begins string }{
		{"bibtex", "", "format_references", "no entries found", "@article{"},
		{"text", "The vCard", "show_contact", "nothing was found", "BEGIN:VCARD"},
		{"source", "", "draw", "this is no Graphviz", "digraph"},
		{"content", "", "check_toml", "line 1: expected a key", "["},
	} {
		f := newFake(wire.Tool{})
		f.surface.Tools = []wire.Tool{tool(c.tool, `{"type":"object","properties":{"`+c.argument+`":{"type":"string","description":"`+c.described+`"}},"required":["`+c.argument+`"]}`)}
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			var args map[string]any
			if err := json.Unmarshal(raw, &args); err != nil {
				return refusal("bad"), nil
			}
			if s, _ := args[c.argument].(string); !strings.HasPrefix(s, c.begins) {
				return refusal(c.refusal), nil
			}
			return success("ok"), nil
		}
		if r := drive(t, f, Config{Calls: 3, Hints: WorkspaceHints("/w", 7, noFile)}); r.Tools[0].OK == 0 {
			t.Errorf("%s: no call succeeded: %q", c.tool, f.log)
		}
	}
}
