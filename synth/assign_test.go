package synth

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A member that no schema declares is set, and comes back where the server keeps whatever it is given.
func TestAssignments(t *testing.T) {
	t.Parallel()
	const updates = `{"type":"object","properties":{"member":{"type":"string"},"profile":{"type":"object","properties":{"display":{"type":"string"}},"required":["display"]}},"required":["member","profile"]}`
	const shows = `{"type":"object","properties":{"member":{"type":"string"}},"required":["member"]}`
	for _, keeps := range []bool{true, false} {
		f := newFake(tool("update_profile", updates), tool("get_profile", shows))
		f.surface.Instructions = "Roles are set by administrators alone."
		kept := map[string]any{}
		f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
			var args struct{ Profile map[string]any }
			_ = json.Unmarshal(raw, &args)
			if name == "update_profile" {
				for k, v := range args.Profile {
					if keeps || k == "display" {
						kept[k] = v
					}
				}
				return success("changed"), nil
			}
			return success(fmt.Sprint(kept)), nil
		}
		told, word := false, ""
		cfg := Config{Calls: 3, OnCall: func(call Call) {
			word = ""
			for _, in := range call.Oracles {
				if in.Oracle == session.OracleAssign {
					word = in.Value
					if strings.Contains(string(call.Args), word) {
						t.Errorf("the value is asked for: %s", call.Args)
					}
				}
			}
		}, OnReturn: func(_ Call, _ Outcome, r client.Result) {
			told = told || word != "" && strings.Contains(string(r.Raw), word)
		}}
		drive(t, f, cfg)
		if told != keeps {
			t.Errorf("keeps %t: told %t", keeps, told)
		}
	}
}
