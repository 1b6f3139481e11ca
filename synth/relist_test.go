package synth

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// A surface that changes is seen to have changed, whenever it does and however many calls are
// made; what is taken back at once is seen with some of the seeds.
func TestChangesAreSeen(t *testing.T) {
	for name, c := range map[string]struct {
		// changed says what the surface is after n calls, of which some had an argument of note.
		changed func(n int, noted bool) bool
		seeds   int // of ten, at least
	}{
		"after the first call":   {func(n int, _ bool) bool { return n >= 1 }, 10},
		"after the 61st":         {func(n int, _ bool) bool { return n >= 61 }, 10},
		"after the last":         {func(n int, _ bool) bool { return n >= 200 }, 10},
		"on one argument":        {func(_ int, noted bool) bool { return noted }, 10},
		"now and then, and back": {func(n int, _ bool) bool { return n%20 == 7 }, 5},
	} {
		seen := 0
		for seed := range int64(10) {
			f := newFake(tool("echo", anything))
			n, noted := 0, false
			f.tool = func(_ string, args json.RawMessage) (client.Result, error) {
				n++
				noted = noted || n > 20 && strings.Contains(string(args), "a")
				f.surface.Tools = []wire.Tool{tool("echo", anything)}
				if c.changed(n, noted) {
					f.surface.Tools = append(f.surface.Tools, tool("more", anything))
				}
				return success("ok"), nil
			}
			if r := drive(t, f, Config{Calls: 200, Seed: seed}); len(r.Changes) > 0 {
				seen++
			}
		}
		if seen < c.seeds {
			t.Errorf("%s: seen with %d of 10 seeds", name, seen)
		}
	}
}

// Listings get rare where they show nothing, and one tenth of the calls has one each.
func TestListingsGetRare(t *testing.T) {
	for _, tools := range []int{1, 20} {
		var all []wire.Tool
		for i := range tools {
			all = append(all, tool(fmt.Sprintf("t%d", i), anything))
		}
		f := newFake(all...)
		r := drive(t, f, Config{Calls: 100})
		if part := float64(f.listed) / float64(r.Calls); part < 0.1 || part > 0.3 {
			t.Errorf("%d tools: %d listings after %d calls", tools, f.listed, r.Calls)
		}
		run, longest := 0, 0
		d := newDriver(t.Context(), Config{Session: f, Surface: f.surface, Now: f.clock, Seed: 3})
		for n := range 1000 {
			if run++; !d.always(n) {
				run = 0
			}
			longest = max(longest, run)
		}
		if longest < blockLen {
			t.Errorf("no %d calls in a row are each followed by a listing", blockLen)
		}
	}
}
