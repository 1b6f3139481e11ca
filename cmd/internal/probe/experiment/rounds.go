package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// vary runs the server under each condition of --vary with the calls of the declared
// run, and repeats those that seem to make a difference, each round with one more
// control. A round begins when the one before has ended, so that what is compared
// does not depend on how many runs are made side by side. The first of the list is the control.
func (s *Scheduler) vary(ctx context.Context, c Case, list []Experiment) ([]session.IndexedRun, error) {
	control := list[0]
	if !control.When(&c) {
		return nil, nil
	}
	due := slices.DeleteFunc(slices.Clone(list[1:]), func(e Experiment) bool { return !e.When(&c) })
	var controls, all []session.IndexedRun
	runs := map[string][]session.IndexedRun{}
	for round := 1; round <= cmp.Or(c.Test.VaryRounds, varyRounds) && len(due) > 0; round++ {
		made, err := s.round(ctx, c, append([]Experiment{control}, due...), round)
		if err != nil {
			return nil, err
		}
		controls, all = append(controls, made[0]), append(all, made...)
		var still []Experiment
		for i, e := range due {
			runs[e.Name] = append(runs[e.Name], made[i+1])
			differs, err := s.Differs(slices.Concat(controls, runs[e.Name]))
			if err != nil {
				return nil, err
			}
			if differs {
				still = append(still, e)
			}
		}
		due = still
	}
	return all, nil
}

// round makes one run of each experiment, side by side.
func (s *Scheduler) round(ctx context.Context, c Case, list []Experiment, round int) ([]session.IndexedRun, error) {
	runs, errs := make([]session.IndexedRun, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, e := range list {
		wg.Go(func() { runs[i], _, errs[i] = s.Make(ctx, &e, &c, fmt.Sprintf("%s-%d", e.Dir, round)) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return runs, errors.Join(errs...)
}
