package run

import (
	"math/rand"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth"
)

const (
	// pauses is how many tools are left alone once, after one of their first pausesWithin calls:
	// for shortestPause to a half longer.
	pauses, pausesWithin = 2, 4
	shortestPause        = 600 * time.Millisecond
)

// pause is for how long nothing is asked after the call with this number among those of its tool.
type pause struct {
	after int
	long  time.Duration
}

// pausesOf draws the pauses of a run, by the names of tools: as long as a person takes, since
// calls that all follow each other at once are a machine's. calls is how often each tool is
// called at the least.
func pausesOf(surface *wire.Surface, seed int64, calls int) map[string]pause {
	names := make([]string, 0, len(surface.Tools))
	for i := range surface.Tools {
		names = append(names, surface.Tools[i].Name)
	}
	if len(names) == 0 {
		for i := range surface.Prompts {
			names = append(names, surface.Prompts[i].Name)
		}
	}
	r, drawn := rand.New(rand.NewSource(seed)), map[string]pause{}
	for _, i := range r.Perm(len(names))[:min(pauses, len(names))] {
		// The call after it shows what it led to.
		drawn[names[i]] = pause{
			after: 1 + r.Intn(max(1, min(pausesWithin, calls-1))),
			long:  shortestPause + time.Duration(r.Int63n(int64(shortestPause)/2)),
		}
	}
	return drawn
}

// pauser is what leaves the server alone after some calls.
func pauser(pauses map[string]pause) func(*synth.Call) {
	calls := map[string]int{}
	return func(call *synth.Call) {
		calls[call.Tool]++
		if p := pauses[call.Tool]; calls[call.Tool] == p.after {
			time.Sleep(p.long)
		}
	}
}
