package experiment

import (
	"testing"
	"time"

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
