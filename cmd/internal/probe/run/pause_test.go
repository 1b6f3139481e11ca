package run

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Some tools are left alone once, by the seed alone, with a call of theirs to come, for less than two seconds in all.
func TestPausesOfAPerson(t *testing.T) {
	surface := func(tools int) *wire.Surface {
		s := &wire.Surface{Prompts: []wire.Prompt{{Name: "prompt"}}}
		for i := range tools {
			s.Tools = append(s.Tools, wire.Tool{Name: fmt.Sprint("tool", i)})
		}
		return s
	}
	for tools, want := range map[int]int{0: 1, 1: 1, 2: 2, 30: 2} {
		tried, after := map[string]bool{}, map[int]bool{}
		for seed := range int64(50) {
			drawn := pausesOf(surface(tools), seed, 8)
			if !maps.Equal(drawn, pausesOf(surface(tools), seed, 8)) {
				t.Fatalf("seed %d draws two kinds of pauses", seed)
			}
			var all time.Duration
			for name, p := range drawn {
				tried[name], after[p.after] = true, true
				all += p.long
				if p.long < shortestPause || p.after < 1 || p.after > pausesWithin {
					t.Errorf("seed %d: %s is left alone for %s after call %d", seed, name, p.long, p.after)
				}
			}
			if len(drawn) != want || all > 2*time.Second {
				t.Errorf("seed %d: %d pauses of %s for %d tools, want %d", seed, len(drawn), all, tools, want)
			}
		}
		if len(tried) < min(tools, 5) || len(after) != pausesWithin {
			t.Errorf("of %d tools, %d are ever left alone, after %d of their calls", tools, len(tried), len(after))
		}
	}
	if p := pausesOf(surface(1), 1, 2)["tool0"]; p.after != 1 {
		t.Errorf("of two calls, the pause is after call %d", p.after)
	}
}
