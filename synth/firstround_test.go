package synth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const byID = `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`

// maker is a server that answers with ids which differ from run to run.
func maker(run string) *fake {
	f := newFake(tool("create_note", anything), tool("get_note", byID), tool("late", anything))
	f.surface.Resources = []wire.Resource{{URI: "x://1"}}
	f.surface.Templates = []wire.ResourceTemplate{{URITemplate: "note://{id}"}}
	f.surface.Prompts = []wire.Prompt{{Name: "p", Arguments: []wire.PromptArgument{{Name: "city", Required: true}}}}
	f.tool = func(name string, _ json.RawMessage) (client.Result, error) {
		if name == "create_note" {
			return success(`{"id":"note-` + run + `"}`), nil
		}
		return refusal("Invalid text. Must be " + run + " or more."), nil
	}
	return f
}

// The first round is the same whatever the server answers, and however long it takes.
func TestFirstRoundIsDrawnBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	plan := func(run string, takes time.Duration) (planned, made []string) {
		f := maker(run)
		f.takes = takes
		drive(t, f, Config{Calls: 4, Seed: 5, Budget: time.Hour,
			OnPlan: func(calls []Call) {
				if len(f.log) > 0 {
					t.Errorf("%d calls were made before the plan", len(f.log))
				}
				for _, c := range calls {
					planned = append(planned, fmt.Sprintf("%d %s %s %s", c.N, c.What, c.Tool, c.Args))
				}
			},
			OnCall: func(c Call) {
				if c.From == nil {
					made = append(made, fmt.Sprintf("%s %s %s", c.What, c.Tool, c.Args))
				}
			}})
		return planned, made
	}
	a, made := plan("alpha", 0)
	b, _ := plan("beta", 5*time.Second)
	if len(a) != 6 || !slices.Equal(a, b) {
		t.Errorf("%q\n%q", a, b)
	}
	for _, c := range a {
		if _, call, _ := strings.Cut(c, " "); !slices.Contains(made, call) {
			t.Errorf("%s was planned and not made: %q", call, made)
		}
	}
}

// Arguments that come from answers name the calls that were answered.
func TestCallsNameWhatTheyLearnedFrom(t *testing.T) {
	t.Parallel()
	f := maker("alpha")
	created, used, corrected := 0, 0, 0
	drive(t, f, Config{Calls: 6, Seed: 5, OnCall: func(c Call) {
		switch {
		case c.Tool == "create_note" && created == 0:
			created = c.N
			if c.From != nil {
				t.Errorf("the first call learned from %v", c.From)
			}
		case strings.Contains(string(c.Args), "note-alpha"):
			used++
			if !slices.Contains(c.From, created) {
				t.Errorf("call %d has the id of call %d and names %v", c.N, created, c.From)
			}
		case strings.Contains(string(c.Args), `"alpha"`):
			corrected++
			if len(c.From) == 0 || slices.Max(c.From) >= c.N {
				t.Errorf("call %d is corrected and names %v", c.N, c.From)
			}
		}
	}})
	if used == 0 || corrected == 0 {
		t.Errorf("%d calls used the id, %d were corrected: %q", used, corrected, f.log)
	}
}

// A planned call whose tool has changed since is drawn again, and says why.
func TestChangedToolsLeaveThePlan(t *testing.T) {
	t.Parallel()
	f := newFake(tool("create_a", anything), tool("get_b", anything))
	f.tool = func(string, json.RawMessage) (client.Result, error) {
		f.surface = &wire.Surface{Tools: []wire.Tool{f.surface.Tools[0], tool("get_b", byID)}}
		return success("ok"), nil
	}
	drive(t, f, Config{Calls: 1, OnCall: func(c Call) {
		if c.Tool == "get_b" && (!slices.Equal(c.From, []int{1}) || !strings.Contains(string(c.Args), `"id"`)) {
			t.Errorf("%s learned from %v", c.Args, c.From)
		}
	}})
}

// Steps of a log make the same calls again, each byte of them.
func TestStepsRepeatCalls(t *testing.T) {
	t.Parallel()
	f := maker("alpha")
	var steps []Step
	drive(t, f, Config{Calls: 3, Seed: 5, OnCall: func(c Call) { steps = append(steps, StepOf(c)) }})
	raw, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	var read []Step
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	again := maker("beta")
	p, err := NewPlayer(t.Context(), Config{Session: again, Surface: again.surface, Now: again.clock})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Play(read); err != nil || !slices.Equal(f.log, again.log) {
		t.Errorf("%v\n%q\n%q", err, f.log, again.log)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(WhatTool, "a", []byte(`{"method":"tools/call","params":{"name":"a","arguments":{"x":1},"_meta":{"progressToken":"p"}}}`))
	f.Add(WhatCompletion, "c", []byte(`{"method":"completion/complete","params":{"ref":{"name":"p"},"argument":{"name":"c"}}}`))
	f.Fuzz(func(t *testing.T, what, name string, message []byte) {
		s := Step{What: what, Name: name, Oracles: []session.Injection{}}
		if s.request(message) && s.Args != nil && !json.Valid(s.Args) {
			t.Errorf("%q", s.Args)
		}
	})
}

// What time cut off of the first round is a gap.
func TestCutFirstRoundIsSaid(t *testing.T) {
	t.Parallel()
	f := newFake(tool("a", anything), tool("b", anything), tool("c", anything))
	f.takes = 2 * time.Second
	r := drive(t, f, Config{Calls: 1, Budget: time.Second})
	if !slices.ContainsFunc(r.Shortfalls, func(g session.Gap) bool {
		return g.Code == session.GapCallsIncomplete && strings.Contains(g.Text, "2 calls of the first round were not made")
	}) {
		t.Errorf("%+v", r.Shortfalls)
	}
}
