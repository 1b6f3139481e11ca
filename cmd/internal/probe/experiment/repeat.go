package experiment

import (
	"slices"
	"sort"
	"time"

	"github.com/coalmine-dev/coalmine/synth"
)

const (
	// slowCall is how long a call takes of which a further run repeats only the first ones of each tool: others of a
	// slow tool's would show little and take minutes.
	slowCall  = time.Second
	slowCalls = 2
	// leastRepeated is how many calls of each tool are repeated at least, however long all of them take.
	leastRepeated = 4
	// repeatTime is what the server may need, and repeatCalls how many calls there may be, in each of a dozen further
	// runs that nobody asked for.
	repeatTime  = 10 * time.Second
	repeatCalls = 300
)

// called is what a step calls.
type called struct{ what, name string }

func calledBy(s *synth.Step) called { return called{s.What, s.Name} }

// tooSlow is asked of each call of a run in turn: whether it is one of a slow tool that was repeated often enough.
func tooSlow() func(*synth.Step) bool {
	slow := map[called]int{}
	return func(s *synth.Step) bool {
		if s.Took < slowCall {
			return false
		}
		slow[calledBy(s)]++
		return slow[calledBy(s)] > slowCalls
	}
}

// withoutSlow are calls without those of slow tools that were repeated often enough.
func withoutSlow(steps []synth.Step) []synth.Step {
	slow := tooSlow()
	return slices.DeleteFunc(slices.Clone(steps), func(s synth.Step) bool { return slow(&s) })
}

// compared are a run's calls, as far as the runs that are compared with it repeat them: not those that carry oracles'
// inputs, of slow tools the first ones, and of each tool as many as a quick run has room for. Those of asking, which
// counts calls from 1, are among them. What a user asks for is repeated whole.
func compared(steps []synth.Step, asking []int, whole bool) []synth.Step {
	var list []synth.Step
	var kept []bool
	slow := tooSlow()
	for i := range steps {
		if s := &steps[i]; !slow(s) && len(s.Oracles) == 0 {
			list, kept = append(list, *s), append(kept, whole || slices.Contains(asking, i+1))
		}
	}
	return firstOf(list, kept)
}

// firstOf are the first calls of each tool, as many as keep all within bounds, and those that are kept in any case.
func firstOf(steps []synth.Step, kept []bool) []synth.Step {
	most, before := 0, make([]int, len(steps)) // calls of the same tool
	count := map[called]int{}
	for i := range steps {
		before[i] = count[calledBy(&steps[i])]
		count[calledBy(&steps[i])]++
		most = max(most, before[i]+1)
	}
	chosen := func(n int) (out []synth.Step, took time.Duration) {
		for i, s := range steps {
			if before[i] < n || kept[i] {
				out, took = append(out, s), took+s.Took
			}
		}
		return out, took
	}
	// More calls of each tool take more of both.
	more := sort.Search(max(most-leastRepeated, 0), func(more int) bool {
		out, took := chosen(leastRepeated + more + 1)
		return took > repeatTime || len(out) > repeatCalls
	})
	out, _ := chosen(leastRepeated + more)
	return out
}
