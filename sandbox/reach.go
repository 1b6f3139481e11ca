package sandbox

import (
	"errors"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/trace/reached"
)

// reach is what a Run knows of the places that its Spec has watched.
type reach struct {
	places *reached.Places // nil for none
	watch  *reached.Watch
	hits   []bool
	err    error
}

// setProbes watches the places of the target's program, whose process waits for it, and lets it go.
func (r *Run) setProbes() {
	if r.reach.places == nil {
		return
	}
	if r.tracer == nil {
		r.reach.err = errors.New("only eBPF tells what of a compiled program runs")
	} else {
		r.reach.watch, r.reach.err = reached.Open(r.tracer.agent, *r.reach.places)
	}
	r.command(agent.Command{Type: agent.CommandRelease})
}

// readProbes takes what was reached, and the probes away.
func (r *Run) readProbes() {
	if r.reach.watch == nil {
		return
	}
	r.reach.hits, r.reach.err = r.reach.watch.Reached()
	r.reach.watch.Close()
	r.reach.watch = nil
}

// Came says of each place that the Spec has watched whether a process came to it, once the run is
// over: where Close has failed, that may never be.
func (r *Run) Came() ([]bool, error) {
	if r.reach.places == nil {
		return nil, nil
	}
	select {
	case <-r.over:
		return r.reach.hits, r.reach.err
	default:
		return nil, errors.New("which code ran is not known: the sandbox has not ended")
	}
}
