package synth

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// A tool of many actions is called with each of them, on all that it is done to.
func TestChoices(t *testing.T) {
	t.Parallel()
	do := tool("do", `{"type":"object","properties":{"action":{"type":"string","description":"One of: search, info, stats, browse."},"source":{"enum":["a","b","c","d","e"]},"deep":{"enum":["x","y"]},"query":{"type":"string"}},"required":["action"]}`)
	list := tool("list", `{"type":"object","properties":{"order":{"enum":["up","down","none","first"]}}}`)
	refuses := tool("refuse", string(do.InputSchema))
	f := newFake(do, list, refuses)
	done := map[string]bool{}
	f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
		var args struct{ Action, Source, Query, Order string }
		if err := json.Unmarshal(raw, &args); err != nil {
			t.Error(err)
		}
		switch {
		case name == "refuse":
			return refusal("no"), nil
		case args.Order != "":
			done[args.Order] = true
		case args.Query != "":
			done[args.Action+" "+args.Source] = true
		}
		return success("ok"), nil
	}
	drive(t, f, Config{Calls: 3})
	for _, order := range []string{"up", "down", "none", "first"} {
		if !done[order] {
			t.Errorf("no call with the order %s", order)
		}
	}
	for _, action := range []string{"search", "info", "stats", "browse"} {
		for _, source := range []string{"a", "b", "c", "d", "e"} {
			if !done[action+" "+source] {
				t.Errorf("no call with the action %s and the source %s", action, source)
			}
		}
	}
	if n := calls(f, "refuse"); n > 3+2*3+maxVainly {
		t.Errorf("a tool that refuses all was called %d times", n)
	}
}

func calls(f *fake, name string) (n int) {
	for _, line := range f.log {
		if len(line) > len(name) && line[:len(name)+1] == name+" " {
			n++
		}
	}
	return n
}
