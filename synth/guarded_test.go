package synth

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// Each tool is called with what the source tests its arguments for, and again with others beside while it refuses.
func TestGuardsAreMet(t *testing.T) {
	t.Parallel()
	f := newFake(tool("opens", `{"type":"object","properties":{"code":{"type":"string"},"n":{"type":"integer"},"path":{"type":"string"}},"required":["code","n"]}`), tool("other", `{"type":"object"}`))
	f.takes = 10 * time.Millisecond
	f.tool = func(_ string, args json.RawMessage) (client.Result, error) {
		if strings.Contains(string(args), "never taken") {
			return refusal("no"), nil
		}
		return success("ok"), nil
	}
	calls := map[string]int{}
	_, err := Drive(t.Context(), Config{
		Session: f, Surface: f.surface, Calls: 2, Now: f.clock, Budget: time.Minute,
		Hints: schema.Hints{Guards: []schema.Guard{
			{Tool: "opens", Asks: []schema.Ask{{Parameter: "code", Test: "equals", Text: "open sesame"}, {Parameter: "n", Test: "equals", Text: "4711", Number: true}}},
			{Tool: "opens", Asks: []schema.Ask{{Parameter: "code", Test: "begins", Text: "never taken"}}},
			{Tool: "opens", Asks: []schema.Ask{{Parameter: "path", Test: "equals", Text: "/etc/passwd"}}},
			{Tool: "unknown", Asks: []schema.Ask{{Parameter: "x", Test: "equals", Text: "y"}}},
		}},
		OnCall: func(c Call) {
			if c.Class != ClassGuard {
				return
			}
			var args struct {
				Code, Path string
				N          int
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				t.Error(err)
			}
			switch {
			case c.Tool != "opens" || args.Path == "/etc/passwd":
				calls["wrong"]++
			case args.Code == "open sesame" && args.N == 4711:
				calls["both"]++
			case strings.HasPrefix(args.Code, "never taken"):
				calls["refused"]++
			default:
				calls["wrong"]++
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls["both"] != 1 || calls["refused"] != 1+guardRounds || calls["wrong"] > 0 {
		t.Errorf("%v", calls)
	}
}

// Attack inputs stand beside what passes a guard, in the arguments that it does not ask for.
func TestAttacksBehindAGuard(t *testing.T) {
	t.Parallel()
	f := newFake(tool("runs", `{"type":"object","properties":{"mode":{"type":"string"},"command":{"type":"string"}},"required":["mode","command"]}`))
	behind, changed := 0, 0
	_, err := Drive(t.Context(), Config{
		Session: f, Surface: f.surface, Calls: 1, Now: f.clock, World: small,
		Hints: schema.Hints{Guards: []schema.Guard{{Tool: "runs", Asks: []schema.Ask{{Parameter: "mode", Test: "equals", Text: "maintenance"}}}}},
		OnCall: func(c Call) {
			var args struct{ Mode string }
			if c.Class != ClassOracle || json.Unmarshal(c.Args, &args) != nil || args.Mode != "maintenance" {
				return
			}
			behind++
			if len(c.Oracles) != 1 || c.Oracles[0].At != "/command" {
				changed++
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if behind < 5 || changed > 0 {
		t.Errorf("%d inputs behind the guard, %d elsewhere", behind, changed)
	}
}
