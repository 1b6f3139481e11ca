package cli

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

// probeAll probes servers, several at once where the machine has room, and tells of them in their order. One that
// cannot be probed hides no other.
func (e *env) probeAll(ctx context.Context, f *probeFlags, runs []plan.Options) error {
	worst := e.badEntries(f.bad)
	all := len(runs)
	runs = slices.DeleteFunc(slices.Clone(runs), func(o plan.Options) bool {
		known := e.attested(ctx, o, f)
		f.policy.doubt = f.policy.doubt || known // a suppression may be for what is not probed now
		return known
	})
	ctx, cancel := context.WithCancel(ctx)
	next, wait := e.begin(ctx, f, runs)
	defer wait()
	defer cancel()
	for i, o := range runs {
		f.progress.at(all-len(runs)+i, all)
		status, err := next(i)
		if err != nil {
			if all == 1 || ctx.Err() != nil {
				return err
			}
			f.progress.hold()
			fmt.Fprintln(e.err, "in "+report.Escape(o.Name, 100)+":")
			status = e.fail(err)
			f.progress.release()
		}
		worst = worse(worst, status)
	}
	e.status = worse(worst, e.stale(f))
	return e.sayTogether(f)
}

// ended is what came of one server.
type ended struct {
	got *probe.Outcome
	err error
}

// begin starts to probe servers. next waits for the i-th and tells of it, in order; wait waits until none is under
// way.
func (e *env) begin(ctx context.Context, f *probeFlags, runs []plan.Options) (next func(i int) (int, error), wait func()) {
	if f.dryRun {
		return func(i int) (int, error) { return e.dryRun(ctx, runs[i], f) }, func() {}
	}
	slots := probe.Slots(ctx, &f.Options)
	atOnce := max(1, min(slots, len(runs)))
	taken, wait := sideBySide(len(runs), atOnce, func(i int) ended {
		o, run := runs[i], probe.Run
		if o.Remote != nil {
			run = probe.RunRemote
		}
		o.Jobs = max(1, slots/atOnce)
		o.Progress = f.progressOf(nameOf(o), len(runs))
		if f.progress.looksOn() {
			o.Found = f.progress.found
		}
		got, err := run(ctx, o)
		return ended{got, err}
	})
	return func(i int) (int, error) {
		p := taken(i)
		f.progress.hold()
		defer f.progress.release()
		if p.err != nil {
			return 0, p.err
		}
		return e.say(p.got, runs[i], f)
	}, wait
}

// sideBySide does n things, so many at once, beginning with the first. taken waits for the i-th, and wait for all.
func sideBySide[T any](n, atOnce int, do func(i int) T) (taken func(i int) T, wait func()) {
	out, ended := make([]chan T, n), make(chan struct{})
	for i := range out {
		out[i] = make(chan T, 1)
	}
	go func() {
		defer close(ended)
		var g errgroup.Group
		g.SetLimit(atOnce)
		for i := range n {
			g.Go(func() error { out[i] <- do(i); return nil })
		}
		_ = g.Wait() // nothing fails
	}()
	return func(i int) T { return <-out[i] }, func() { <-ended }
}
