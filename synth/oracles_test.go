package synth

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

var small = &oracle.World{Root: "/w", Outside: oracle.File{Stem: "/home/dana/Documents/lease", Value: "ref x"}}

// kinds counts the oracle calls of a drive by tool and kind; undeclared tools count as "".
func kinds(t *testing.T, f *fake, cfg Config) (map[string]map[string]int, Report) {
	t.Helper()
	declared := map[string]bool{}
	for _, tool := range f.surface.Tools {
		declared[tool.Name] = true
	}
	got := map[string]map[string]int{}
	cfg.World = small
	cfg.OnCall = func(c Call) {
		if c.Class != ClassOracle {
			return
		}
		tool := c.Tool
		if !declared[tool] {
			tool = ""
		}
		if got[tool] == nil {
			got[tool] = map[string]int{}
		}
		p := probeInput{args: c.Args, in: c.Oracles}
		got[tool][p.kind()]++
	}
	return got, drive(t, f, cfg)
}

func manyTools(n int) []wire.Tool {
	var out []wire.Tool
	for i := range n {
		out = append(out, tool(fmt.Sprintf("tool_%d", i), anything))
	}
	return out
}

func TestEachKindOfInputHasItsShare(t *testing.T) {
	t.Parallel()
	f := newFake(manyTools(60)...)
	f.takes = 40 * time.Millisecond // 60 tools with 120 inputs each would take five minutes
	got, r := kinds(t, f, Config{})
	want := len(got["tool_0"])
	if want < 6 || len(got[""]) == 0 {
		t.Fatalf("%d kinds of inputs, undeclared tools %v", want, got[""])
	}
	for name, k := range got {
		if name != "" && len(k) != want {
			t.Errorf("%s had %v", name, k)
		}
	}
	if len(r.Shortfalls) > 0 {
		t.Errorf("%v", r.Shortfalls)
	}
}

func TestSharesThatTimeEndedAreSaid(t *testing.T) {
	t.Parallel()
	f := newFake(manyTools(60)...)
	f.takes = 2 * time.Second
	got, r := kinds(t, f, Config{})
	codes := map[session.Code]int{}
	for _, g := range r.Shortfalls {
		codes[g.Code]++
	}
	if codes[session.GapAttacksIncomplete] != 2 {
		t.Errorf("%v", r.Shortfalls)
	}
	all := map[string]bool{}
	for name, k := range got {
		for kind := range k {
			all[kind] = all[kind] || name != ""
		}
	}
	if len(all) < 6 || len(got[""]) == 0 {
		t.Errorf("kinds that no tool had: only %v, undeclared %v", all, got[""])
	}
}

func TestASlowToolWaitsForItsShare(t *testing.T) {
	t.Parallel()
	f := newFake(tool("a_slow", anything), tool("b", anything), tool("c", anything))
	f.tool = func(name string, _ json.RawMessage) (client.Result, error) {
		if name == "a_slow" {
			f.now = f.now.Add(4 * time.Second)
		}
		return success("ok"), nil
	}
	got, _ := kinds(t, f, Config{OracleTime: time.Minute})
	if len(got["a_slow"]) != len(got["b"]) {
		t.Errorf("the slow tool had %v, another %v", got["a_slow"], got["b"])
	}
}

func TestWhatTakesInputsGetsMore(t *testing.T) {
	t.Parallel()
	f := newFake(tool("refuses", anything), tool("takes", anything))
	f.takes = 100 * time.Millisecond
	f.tool = func(name string, _ json.RawMessage) (client.Result, error) {
		if name == "refuses" {
			return refusal("no"), nil
		}
		return success("ok"), nil
	}
	_, r := kinds(t, f, Config{OracleTime: 10 * time.Second})
	if a, b := r.Tools[0].OraclesTried, r.Tools[1].OraclesTried; a >= b || a == 0 {
		t.Errorf("%d inputs for a tool that refuses them, %d for one that takes them", a, b)
	}
}

func TestOneToolWithoutWhatEndsTheServer(t *testing.T) {
	t.Parallel()
	f := newFake(tool("a", anything), tool("b", anything))
	f.surface.Resources = []wire.Resource{{URI: "x://1"}}
	first := drive(t, f, Config{})
	if first.Calls == 0 {
		t.Fatal("no calls")
	}
	ending := json.RawMessage(f.log[1][len("b "):])
	f.log = nil
	r := drive(t, f, Config{Only: "b", Avoid: []json.RawMessage{ending}, World: small})
	if slices.ContainsFunc(f.log, func(l string) bool { return l == "b "+string(ending) || l[0] != 'b' }) {
		t.Errorf("%q", f.log)
	}
	if len(r.Tools) != 1 || r.Tools[0].Calls < DefaultCalls-1 || r.Tools[0].OraclesTried == 0 {
		t.Errorf("%+v", r.Tools)
	}
}
