package synth

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// A tool that fails with what a service answers gets other answers, until it works; one
// that asked nobody does not.
func TestServicesAnswerOtherwise(t *testing.T) {
	t.Parallel()
	f := newFake(tool("fetches", `{"type":"object"}`), tool("computes", `{"type":"object"}`))
	now, asked := 0, false
	f.tool = func(name string, _ json.RawMessage) (client.Result, error) {
		if asked = name == "fetches"; asked && now == 2 {
			return success("found"), nil
		}
		return refusal("it failed"), nil
	}
	turns := map[string][]int{}
	r, err := Drive(t.Context(), Config{
		Session: f, Surface: f.surface, Calls: 4, Now: f.clock, Turns: 3, Asked: func() bool { return asked },
		OnCall: func(c Call) { now = c.Turn; turns[c.Tool] = append(turns[c.Tool], c.Turn) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := turns["fetches"]; len(got) < 4 || !slices.Contains(got, 2) || slices.Max(got[slices.Index(got, 2):]) != 2 || slices.Min(got[slices.Index(got, 2):]) != 2 {
		t.Errorf("the turns of the tool that asks: %v", got)
	}
	if got := turns["computes"]; slices.Max(got) != 0 {
		t.Errorf("the turns of the tool that asks nobody: %v", got)
	}
	if i := slices.IndexFunc(r.Tools, func(c Coverage) bool { return c.Name == "fetches" }); r.Tools[i].OK == 0 {
		t.Errorf("it never worked: %+v", r.Tools[i])
	}
}

// Each branch of a tool gets the answer that fits first, whatever another one failed with.
func TestEachBranchHasItsTurns(t *testing.T) {
	t.Parallel()
	f := newFake(tool("asks", `{"type":"object","properties":{"action":{"type":"string","enum":["list","show"]}},"required":["action"]}`))
	f.tool = func(string, json.RawMessage) (client.Result, error) { return refusal("it failed"), nil }
	first := map[string]int{}
	if _, err := Drive(t.Context(), Config{
		Session: f, Surface: f.surface, Calls: 6, Now: f.clock, Turns: 3, Asked: func() bool { return true },
		OnCall: func(c Call) {
			if _, seen := first[string(c.Args)]; !seen && c.Class != schema.Invalid.String() {
				first[string(c.Args)] = c.Turn
			}
		},
	}); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"action":"list"}`, `{"action":"show"}`} {
		if turn, seen := first[args]; !seen || turn != 0 {
			t.Errorf("%s began with the turn %d (called: %v)", args, turn, seen)
		}
	}
}

// A tool that asked a service is called once more for each kind of answer that holds commands as lists.
func TestRowsAreServed(t *testing.T) {
	t.Parallel()
	f := newFake(tool("fetches", `{"type":"object"}`), tool("computes", `{"type":"object"}`))
	asked := false
	f.tool = func(name string, _ json.RawMessage) (client.Result, error) {
		asked = name == "fetches"
		return success("found"), nil
	}
	turns := map[string][]int{}
	if _, err := Drive(t.Context(), Config{
		Session: f, Surface: f.surface, Calls: 4, Now: f.clock, Turns: 3, Rows: []int{5, 6}, Asked: func() bool { return asked },
		OnCall: func(c Call) {
			if c.Turn > 0 {
				turns[c.Tool] = append(turns[c.Tool], c.Turn)
			}
		},
	}); err != nil || len(turns) != 1 || !slices.Equal(turns["fetches"], []int{5, 6}) {
		t.Errorf("%v, %v", turns, err)
	}
}

// A replay has the services answer as they did.
func TestReplayKeepsTheTurn(t *testing.T) {
	t.Parallel()
	f := newFake(tool("fetches", `{"type":"object"}`))
	var got []int
	p, err := NewPlayer(t.Context(), Config{Session: f, Surface: f.surface, Now: f.clock, OnCall: func(c Call) { got = append(got, c.Turn) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Play([]Step{{What: WhatTool, Name: "fetches", Turn: 3}, {What: WhatTool, Name: "fetches"}}); err != nil || !slices.Equal(got, []int{3, 0}) {
		t.Errorf("turns %v, %v", got, err)
	}
}
