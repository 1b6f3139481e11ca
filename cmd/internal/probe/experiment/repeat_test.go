package experiment

import (
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

func TestSlowToolsAreRepeatedLess(t *testing.T) {
	t.Parallel()
	step := func(name string, took time.Duration) synth.Step {
		return synth.Step{What: synth.WhatTool, Name: name, Took: took}
	}
	steps := []synth.Step{
		step("slow", 2*time.Second), step("quick", time.Millisecond), step("slow", 3*time.Second), step("quick", time.Millisecond),
		step("slow", 10*time.Millisecond), step("slow", 4*time.Second), step("other", time.Minute), step("quick", 0), step("quick", 0),
	}
	var got []time.Duration
	for _, s := range withoutSlow(steps) {
		if s.Name == "slow" {
			got = append(got, s.Took)
		}
	}
	if len(got) != 3 || got[0] != 2*time.Second || got[1] != 3*time.Second || got[2] != 10*time.Millisecond {
		t.Errorf("of the slow tool's calls remain those of %v", got)
	}
	if n := len(withoutSlow(steps)); n != len(steps)-1 {
		t.Errorf("%d calls remain of %d", n, len(steps))
	}
	c := &Case{Guided: []synth.Step{step("slow", 0)}}
	c.Seen.Steps = steps
	if n := len(GuidedSteps(c)); n != len(steps) {
		t.Errorf("the run with other inputs makes %d calls, not %d", n, len(steps))
	}
}

func TestComparedRunsAreQuick(t *testing.T) {
	t.Parallel()
	var many, slow []synth.Step
	for range 60 {
		for tool := range 20 {
			many = append(many, synth.Step{What: synth.WhatTool, Name: string(rune('a' + tool)), Took: time.Millisecond})
		}
	}
	for range 50 {
		slow = append(slow, synth.Step{What: synth.WhatTool, Name: "a", Took: 900 * time.Millisecond}, synth.Step{What: synth.WhatTool, Name: "b"})
	}
	attack := synth.Step{What: synth.WhatTool, Name: "a", Oracles: []session.Injection{{}}}
	for _, c := range []struct {
		name   string
		steps  []synth.Step
		asking []int
		whole  bool
		want   int
	}{
		{"few", many[:200], nil, false, 200},
		{"many calls", many, nil, false, repeatCalls},
		{"a call that asks", many, []int{7, 1100, 1200}, false, repeatCalls - 20 + 2},
		{"what the user asks for", many, nil, true, len(many)},
		{"much time", slow, nil, false, 22},
		{"without attacks", append([]synth.Step{attack}, many[:3]...), []int{1, 2}, false, 3},
		{"none", nil, []int{1}, false, 0},
	} {
		if got := compared(c.steps, c.asking, c.whole); len(got) != c.want {
			t.Errorf("%s: %d calls are repeated, not %d", c.name, len(got), c.want)
		}
	}
}
