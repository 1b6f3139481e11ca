package synth

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// A tool that answers ordinary calls, and is left alone because it hangs at attack inputs, leaves a gap of its own. One that
// never answered has another gap already.
func TestAToolThatIsLeftAloneIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		// hangs says which calls get no answer: ordinary is how many ordinary ones were before, attacks how many others.
		hangs func(ordinary, attacks int) bool
		gap   bool
		tried int // attack inputs, 0 for all that were planned
	}{
		{"the first two attack inputs", func(_, attacks int) bool { return attacks == 1 || attacks == 2 }, true, 2},
		{"every attack input", func(_, attacks int) bool { return attacks > 0 }, true, 2},
		{"two late attack inputs", func(_, attacks int) bool { return attacks == 60 || attacks == 61 }, true, 61},
		{"one attack input", func(_, attacks int) bool { return attacks == 1 }, false, 0},
		{"two ordinary calls, and none with what worked", func(ordinary, attacks int) bool { return attacks == 0 && (ordinary == 3 || ordinary == 4) }, false, 0},
		{"every call", func(int, int) bool { return true }, false, -1},
		{"no call", func(int, int) bool { return false }, false, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			f := newFake(tool("quick", anything), tool("hangs", anything))
			ordinary, attacks, attack := 0, 0, false
			f.tool = func(name string, _ json.RawMessage) (client.Result, error) {
				if name != "hangs" {
					return success("ok"), nil
				}
				if attack {
					attacks++
				} else {
					ordinary++
				}
				if c.hangs(ordinary, attacks) {
					return client.Result{}, context.DeadlineExceeded
				}
				return success("ok"), nil
			}
			r := drive(t, f, Config{World: small, OnCall: func(call Call) { attack = len(call.Oracles) > 0 }})
			var gaps []session.Gap
			for _, g := range r.Shortfalls {
				if g.Code == session.GapAttacksIncomplete {
					gaps = append(gaps, g)
				}
			}
			if got := len(gaps) == 1 && gaps[0].Tool == "hangs"; got != c.gap || len(gaps) > 1 {
				t.Errorf("%v, want a gap: %v", r.Shortfalls, c.gap)
			}
			of := r.Tools[1]
			if want := c.tried; want > 0 && of.OraclesTried != want || want == 0 && of.OraclesTried != of.OraclesPlanned {
				t.Errorf("%d of %d attack inputs were made, want %d", of.OraclesTried, of.OraclesPlanned, want)
			}
		})
	}
}

// wide is the schema of a tool with so many arguments.
func wide(n int) string {
	var names, props []string
	for i := range n {
		names = append(names, fmt.Sprintf("%q", fmt.Sprintf("arg%d", i)))
		props = append(props, names[i]+`:{"type":"string"}`)
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":[` + strings.Join(names, ",") + `]}`
}

// Each argument gets one input of each oracle within the default budget, or the run says so.
func TestEachArgumentGetsEachOracle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what        string
		tools, args int
		calls       int
		takes       time.Duration
		gap         bool
	}{
		{"one tool of ten arguments", 1, 10, 0, 100 * time.Millisecond, false},
		{"a slow one", 1, 10, 0, 2 * time.Second, false},
		{"a slower one of three", 1, 3, 0, 6 * time.Second, false},
		{"one that takes too long", 1, 10, 0, 5 * time.Second, true},
		{"twenty tools of three arguments", 20, 3, 0, 200 * time.Millisecond, false},
		{"forty wide tools that are slow", 40, 10, 0, time.Second, true},
		{"as many arguments as the budget has inputs for", 1, leastPlaces, 0, 50 * time.Millisecond, false},
		{"few calls", 1, 10, 1, 50 * time.Millisecond, false},
		{"too many arguments", 1, leastPlaces + 1, 0, 50 * time.Millisecond, true},
		{"many arguments, and a budget for them", 1, leastPlaces + 1, leastPlaces, 50 * time.Millisecond, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			for i := range c.tools {
				f.surface.Tools = append(f.surface.Tools, tool(fmt.Sprint("tool", i), wide(c.args)))
			}
			f.tool = func(name string, _ json.RawMessage) (client.Result, error) {
				if !strings.HasPrefix(name, "tool") {
					return refusal("unknown tool"), nil
				}
				f.now = f.now.Add(c.takes)
				return success("ok"), nil
			}
			got := map[string]bool{}
			r := drive(t, f, Config{World: small, Calls: c.calls, OnCall: func(call Call) {
				if len(call.Oracles) == 1 && !call.Oracles[0].Undeclared {
					got[call.Tool+call.Oracles[0].Oracle+call.Oracles[0].At] = true
				}
			}})
			gap := slices.ContainsFunc(r.Shortfalls, func(g session.Gap) bool { return g.Code == session.GapAttacksIncomplete })
			missing := 0
			for _, to := range f.surface.Tools {
				for i := range c.args {
					for _, family := range []string{session.OracleCommand, session.OracleArgument, session.OraclePath, session.OracleFetch, session.OracleCode} {
						if !got[fmt.Sprintf("%s%s/arg%d", to.Name, family, i)] {
							missing++
						}
					}
				}
			}
			if gap != c.gap || missing > 0 != c.gap {
				t.Errorf("%d inputs are missing; gaps %v, want one: %v", missing, r.Shortfalls, c.gap)
			}
			if oracle.Oracles() != 5 {
				t.Errorf("%d oracles", oracle.Oracles())
			}
		})
	}
}

// An argument that no call took gets its inputs beside those that one took.
func TestArgumentsThatAToolRefuses(t *testing.T) {
	t.Parallel()
	const optional = `{"type":"object","properties":{"text":{"type":"string"},"format":{"type":"string"},"deep":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},"required":["text"]}`
	for what, c := range map[string]struct {
		refuses func(args string) bool
		want    []string
	}{
		"none":           {func(string) bool { return false }, []string{"/text", "/format", "/deep/a"}},
		"the others":     {func(args string) bool { return strings.Contains(args, "format") || strings.Contains(args, "deep") }, []string{"/text", "/format", "/deep/a"}},
		"both of them":   {func(args string) bool { return strings.Contains(args, "format") && strings.Contains(args, "deep") }, []string{"/text", "/format", "/deep/a"}},
		"all of its own": {func(string) bool { return true }, []string{"/text"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(tool("convert", optional))
			f.tool = func(_ string, args json.RawMessage) (client.Result, error) {
				if c.refuses(string(args)) {
					return refusal("no"), nil
				}
				return success("ok"), nil
			}
			got := map[string]bool{}
			drive(t, f, Config{World: small, OnCall: func(call Call) {
				if len(call.Oracles) == 1 {
					got[call.Oracles[0].Oracle+call.Oracles[0].At] = true
				}
			}})
			for _, at := range c.want {
				for _, family := range []string{session.OracleCommand, session.OracleArgument, session.OraclePath, session.OracleFetch, session.OracleCode} {
					if !got[family+at] {
						t.Errorf("%s got no %s", at, family)
					}
				}
			}
		})
	}
}

// A policy that accepts the gaps before the bound accepts none behind it.
func TestGapsBeyondTheBoundAreCounted(t *testing.T) {
	d := newDriver(t.Context(), Config{Surface: &wire.Surface{}, Now: newFake().clock})
	for range maxShortfalls + 2 {
		d.shortfall(session.GapCallNotSettled, "slow", "it may be counted to a later call")
	}
	d.shortfall(session.GapAttacksIncomplete, "", "there was no time")
	got := d.finish().Shortfalls[maxShortfalls:]
	want := []session.Gap{
		{Code: session.GapAttacksIncomplete, Text: "not listed one by one: gaps of this kind beyond the first 50 of the run: 1"},
		{Code: session.GapCallNotSettled, Text: "not listed one by one: gaps of this kind beyond the first 50 of the run: 2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
