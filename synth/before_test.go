package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// The tool that a refusal names is called with the arguments that both take, and then the refused call again.
func TestCallsBefore(t *testing.T) {
	t.Parallel()
	const one = `{"type":"object","properties":{"page":{"type":"string"}},"required":["page"]}`
	for name, c := range map[string]struct {
		refusal string
		want    bool
	}{
		"a tool is named":            {"The index is stale. You may need to remove it first, using delete_index.", true},
		"a tool is named, no advice": {"delete_index", false},
		"part of another name":       {"Please look at delete_index_later first.", false},
	} {
		f := newFake(tool("get_page", one), tool("create_page", `{"type":"object"}`), tool("delete_index", `{"type":"object","properties":{"page":{"type":"string"},"force":{"type":"boolean"}},"required":["page","force"]}`))
		f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
			if name != "get_page" {
				return success("ok"), nil
			}
			var now, last map[string]any
			for i, to := range []*map[string]any{&now, &last} {
				if n := len(f.log) - 1 - i; n >= 0 {
					called, args, _ := strings.Cut(f.log[n], " ")
					if err := json.Unmarshal([]byte(args), to); err != nil || called != []string{"get_page", "delete_index"}[i] {
						*to = nil
					}
				}
			}
			if last == nil || last["page"] != now["page"] {
				return refusal(c.refusal), nil
			}
			return success("text"), nil
		}
		r := drive(t, f, Config{Calls: 3})
		if got := r.Tools[0].OK > 0; got != c.want {
			t.Errorf("%s: get_page succeeded %d times: %q", name, r.Tools[0].OK, f.log)
		}
	}
}
