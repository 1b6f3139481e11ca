package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// secondDir holds the log of the second start, below the run's directory.
	secondDir = "second"
	// secondCalls is how often each tool is called in it, at least.
	secondCalls = 3
	// secondTime bounds it.
	secondTime = 30 * time.Second
	// maxKept bounds the files that a second start finds.
	maxKept = 100
)

// startFurther makes the starts that the first gave reason for. One that can not
// be made hides what it would have shown, and takes nothing from what was seen.
func (p *plan) startFurther(ctx context.Context, b sandbox.Backend, dir *os.Root, res *analyze.Result, o analyze.Options) error {
	starts := []struct {
		why  string
		make func(context.Context, sandbox.Backend, *os.Root, *analyze.Result, analyze.Options) error
	}{
		{"after a crash", p.restart},
		{"with the same HOME", p.startAgain},
		{"with an answer on the loopback address", p.answerLoopback},
		{"with another user's HOME", p.inOtherHome},
	}
	for _, s := range starts {
		err := s.make(ctx, b, dir, res, o)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			analyze.Doubt(res, session.Gap{Code: session.GapFurtherStartFailed, Text: "the further start " + s.why + " could not be made: " + err.Error()}, o)
		}
	}
	return nil
}

// keep takes along what the server wrote in places that last, while it still lives.
func (p *plan) keep(ctx context.Context, c *conversation) {
	if p.opts.Replay != nil || p.work != nil || p.isFurther {
		return
	}
	names := c.rec.lasting(append([]string{p.set.Home(), p.spec.ServerDir}, p.spec.Workspaces...), p.isDecoy)
	if len(names) == 0 {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	files, err := c.run.Collect(bounded, names)
	if err != nil {
		return // a second start that finds nothing is the first again
	}
	for _, f := range files {
		if slices.Contains(names, f.Path) {
			p.kept = append(p.kept, f)
		}
	}
}

// isDecoy says that a path is planted: what the server did to it is its own affair.
func (p *plan) isDecoy(name string) bool {
	return slices.ContainsFunc(p.spec.Files, func(f rootfs.File) bool { return f.Path == name })
}

// lasting are the files below some directories that the server wrote and that
// are no decoys, those in a directory of their own first.
func (r *recorder) lasting(dirs []string, decoy func(string) bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, name := range r.ever {
		if len(out) < maxKept && !decoy(name) && slices.ContainsFunc(dirs, func(d string) bool { return d != "" && strings.HasPrefix(name, d+"/") }) {
			out = append(out, name)
		}
	}
	return out
}

// startAgain starts a server that left files behind a second time among them:
// what waits for that must not go unseen. What it does then that it did not do
// before is added to the result.
func (p *plan) startAgain(ctx context.Context, b sandbox.Backend, dir *os.Root, res *analyze.Result, o analyze.Options) error {
	if err := dir.RemoveAll(secondDir); err != nil {
		return fmt.Errorf("remove an earlier second start: %w", err)
	}
	if len(p.kept) == 0 {
		return nil
	}
	more, _, err := p.further(ctx, b, dir, secondDir, o, func(again *plan) {
		again.world = nil
		again.spec.Files = append(slices.Clone(p.spec.Files), p.kept...)
		again.opts.Calls, again.opts.Timeout = min(secondCalls, p.opts.Calls), min(secondTime, p.opts.Timeout)
		again.opts.Progress("starting a second time with the same HOME")
	})
	if err != nil {
		return err
	}
	more.Gaps = nil // the first start was looked at whole; this one is a bonus
	analyze.Add(res, more, "in a second start with the same HOME", o)
	return nil
}

const (
	// restartDir holds the log of a start after a crash, below the run's directory.
	restartDir = "restart"
	// maxRestarts is how often a server is started again that ended in a call.
	maxRestarts = 3
)

// restart starts a server again that ended in a call, without the tools that
// ended it, so that the others are looked at all the same.
func (p *plan) restart(ctx context.Context, b sandbox.Backend, dir *os.Root, res *analyze.Result, o analyze.Options) error {
	for n := 1; n <= maxRestarts; n++ {
		if err := dir.RemoveAll(fmt.Sprintf("%s-%d", restartDir, n)); err != nil {
			return fmt.Errorf("remove an earlier restart: %w", err)
		}
	}
	skip, crashed, took := []string(nil), p.crashed, p.took
	for n := 1; n <= maxRestarts && crashed != ""; n++ {
		skip = append(skip, crashed)
		more, again, err := p.further(ctx, b, dir, fmt.Sprintf("%s-%d", restartDir, n), o, func(again *plan) {
			again.skip, again.opts.Timeout = skip, timeLeft(p.opts.Timeout, took)
			again.opts.Progress("starting again after a crash")
		})
		if err != nil {
			return err
		}
		analyze.Cover(res, more)
		analyze.Add(res, more, fmt.Sprintf("after restart %d", n), o)
		crashed, took = again.crashed, took+again.took
	}
	return nil
}

// timeLeft is what a restart has: all starts together have the time of one, as far
// as that is not too little for any.
func timeLeft(timeout, took time.Duration) time.Duration {
	return max(timeout-took, min(secondTime, timeout))
}

// further makes one more start in a directory of its own below the run's, and judges it.
func (p *plan) further(ctx context.Context, b sandbox.Backend, dir *os.Root, name string, o analyze.Options, change func(*plan)) (*analyze.Result, *plan, error) {
	sub, err := openBelow(dir, name)
	if err != nil {
		return nil, nil, err
	}
	defer sub.Close()
	again := *p
	again.isFurther, again.steps, again.crashed = true, nil, ""
	change(&again)
	if again.spec.Network, err = again.network(); err != nil {
		return nil, nil, err
	}
	if err := again.session(ctx, b, sub); err != nil {
		return nil, nil, err
	}
	o.Audit, o.AuditErr = nil, nil
	more, err := judge(sub, o)
	return more, &again, err
}

// openBelow makes a directory where it is missing, and opens it.
func openBelow(dir *os.Root, name string) (*os.Root, error) {
	if err := dir.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("make room for a further log: %w", err), Hint: "is the disk of --out full?"}
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("make room for a further log: %w", err)
	}
	return sub, nil
}
