package synth

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// maze is a server whose code opens one branch behind another: each needs an argument of its
// own to be right, and those before it to stay so.
type maze struct {
	*fake
	deepest int
	reached map[int]bool
}

func newMaze() *maze {
	m := &maze{fake: newFake(tool("open", `{"type":"object","properties":{"mode":{"type":"string"},"target":{"type":"string"},"level":{"type":"string"},"note":{"type":"string"}},"required":["mode"]}`)), reached: map[int]bool{}}
	m.tool = func(_ string, args json.RawMessage) (client.Result, error) {
		var a struct{ Mode, Target, Level, Note string }
		if json.Unmarshal(args, &a) != nil {
			return refusal("no"), nil
		}
		at := 0
		for _, right := range []bool{a.Mode == "export", a.Target == "archive", a.Level == "verbose", strings.HasPrefix(a.Note, "run:")} {
			if !right {
				break
			}
			at++
			m.reached[at] = true
		}
		m.deepest = max(m.deepest, at)
		return success("ok"), nil
	}
	return m
}

func (m *maze) config(seed int64) Config {
	hints := WorkspaceHints("/w", 7, noFile)
	texts := []string{"export", "archive", "verbose", "run:"}
	for _, filler := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"} {
		texts = append(texts, filler+"-one", filler+"-two")
	}
	hints.Literals = schema.Literals{Texts: texts}
	return Config{Session: m, Surface: m.surface, Seed: seed, Hints: hints, Now: m.clock}
}

// guide searches a maze. Where blind, the search is never told of new code.
func guide(t *testing.T, seed int64, tries int, blind bool) (*maze, Guided) {
	t.Helper()
	m := newMaze()
	p, err := NewPlayer(t.Context(), m.config(seed))
	if err != nil {
		t.Fatal(err)
	}
	known := []Step{{What: WhatTool, Name: "open", Args: json.RawMessage(`{"mode":"list"}`)}}
	if _, _, err := p.Play(known); err != nil {
		t.Fatal(err)
	}
	return m, p.Guide(known, nil, tries, func() (int, bool) {
		if blind {
			return 1, true
		}
		return 1 + len(m.reached), true
	})
}

// What reaches new code is kept and varied: branch behind branch opens, which it does not
// where nobody says what was reached.
func TestGuidanceOpensNestedBranches(t *testing.T) {
	t.Parallel()
	const tries = 300
	guided, blind := 0, 0
	for seed := range int64(8) {
		m, g := guide(t, seed, tries, false)
		guided += m.deepest
		if g.Tries > tries || g.Kept > len(m.reached) || len(g.Steps) > g.Tries || g.Kept > 0 && len(g.Steps) == 0 {
			t.Errorf("seed %d: %d of %d tries kept, %d steps, %d reached", seed, g.Kept, g.Tries, len(g.Steps), len(m.reached))
		}
		m, g = guide(t, seed, tries, true)
		blind += m.deepest
		if g.Kept != 0 || g.Steps != nil {
			t.Errorf("seed %d: %d kept where nothing was reached", seed, g.Kept)
		}
	}
	if guided < 24 || guided < blind+8 {
		t.Errorf("%d branches of 32 with guidance, %d without", guided, blind)
	}
}

func TestSameSeedSameGuidedCalls(t *testing.T) {
	t.Parallel()
	a, _ := guide(t, 5, 60, false)
	b, _ := guide(t, 5, 60, false)
	c, _ := guide(t, 6, 60, false)
	if !slices.Equal(a.log, b.log) || slices.Equal(a.log, c.log) {
		t.Errorf("%d, %d and %d calls", len(a.log), len(b.log), len(c.log))
	}
}

// A search is bounded, ends where the record is lost or all of the code ran, and keeps the call that ends the server.
func TestGuidanceEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		tries   int
		crash   bool
		reached func(calls int) (int, bool)
		want    Guided
	}{
		{"tries", 7, false, func(int) (int, bool) { return 1, true }, Guided{Tries: 7}},
		{"lost record", 100, false, func(calls int) (int, bool) { return 1, calls < 6 }, Guided{Tries: 6}},
		{"no record", 100, false, func(int) (int, bool) { return 0, false }, Guided{}},
		{"all ran at first", 100, false, func(int) (int, bool) { return 9, false }, Guided{}},
		{"all ran by the fourth call", 100, false, func(calls int) (int, bool) { return 1 + calls/4, calls < 4 }, Guided{Tries: 4, Kept: 1}},
		{"crash", 100, true, func(int) (int, bool) { return 1, true }, Guided{Tries: 1, Kept: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(tool("echo", anything))
			if c.crash {
				f.tool = func(string, json.RawMessage) (client.Result, error) { return client.Result{}, client.ErrClosed }
			}
			p, err := NewPlayer(t.Context(), Config{Session: f, Surface: f.surface, Now: f.clock, Hints: WorkspaceHints("/w", 7, noFile)})
			if err != nil {
				t.Fatal(err)
			}
			g := p.Guide(nil, nil, c.tries, func() (int, bool) { return c.reached(len(f.log)) })
			if want := min(g.Kept, 1) * g.Tries; len(g.Steps) != want {
				t.Errorf("%d steps, want %d", len(g.Steps), want)
			}
			g.Steps = nil
			if !reflect.DeepEqual(g, c.want) {
				t.Errorf("%+v, want %+v", g, c.want)
			}
		})
	}
}

// A long document is no input to vary: each variation would be as long.
func TestGuidanceVariesNoLongText(t *testing.T) {
	m := newMaze()
	p, err := NewPlayer(t.Context(), m.config(1))
	if err != nil {
		t.Fatal(err)
	}
	long, err := json.Marshal(map[string]string{"mode": "export", "note": strings.Repeat("line\n", maxVaried)})
	if err != nil {
		t.Fatal(err)
	}
	known := []Step{{What: WhatTool, Name: "open", Args: long}, {What: WhatTool, Name: "open", Args: []byte(`{"mode":"plain"}`)}}
	if _, _, err := p.Play(known); err != nil {
		t.Fatal(err)
	}
	calls := 0
	m.tool = func(_ string, args json.RawMessage) (client.Result, error) {
		if calls++; len(args) >= 5*maxVaried {
			t.Errorf("a variation has %d bytes", len(args))
		}
		return success("ok"), nil
	}
	p.Guide(known, map[int]bool{0: true}, 50, func() (int, bool) { return 1, true })
	if calls < 20 {
		t.Errorf("%d calls", calls)
	}
}
