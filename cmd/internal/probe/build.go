package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// build runs the scripts that an installation of the package would run, watched,
// among the decoys that the server will find, and takes what they made of the tree.
func (p *probe) build(ctx context.Context) error {
	in := p.fetched
	if in == nil || in.Tree == nil || len(in.Tree.Steps) == 0 {
		return nil
	}
	if p.opts.NoBuild {
		in.Package.Build.Why = fmt.Sprintf("--no-build left out the scripts of the installation: %d", len(in.Tree.Steps))
		p.plan = p.plan.Built(p.opts, in)
		return nil
	}
	var err error
	if in.Built, err = in.Cache.Temp(); err != nil {
		return plan.Mendable(err)
	}
	began := time.Now()
	p.opts.Progress(fmt.Sprintf("building: %d scripts", len(in.Tree.Steps)))
	indexed, seen, err := p.runBuild(ctx)
	in.Tree.Dropped = append(in.Tree.Dropped, seen.Dropped...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var usage *sandbox.UsageError
	if errors.As(err, &usage) {
		return err
	}
	usable := err == nil && made(in, seen.Statuses)
	if usable {
		usable, err = p.finishBuild(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	describeBuild(in, seen.Statuses, err, time.Since(began))
	p.runs = append(p.runs, withoutLog(p.dir, indexed))
	if err = nil; !usable {
		// The server is run from what was fetched, and the report says so.
		err = os.RemoveAll(in.Built)
		in.Built = ""
	}
	p.plan = p.plan.Built(p.opts, in)
	return err
}

func (p *probe) runBuild(ctx context.Context) (session.IndexedRun, run.Observations, error) {
	q, err := p.plan.Revealed(ctx)
	if err != nil {
		return experiment.Build.Indexed(nil, experiment.Build.Dir), run.Observations{}, err
	}
	scripts := plan.Scripts{Tree: p.fetched.Tree, Tools: p.fetched.Tools(), To: p.fetched.Built}
	return p.scheduler().Make(ctx, &experiment.Build, &experiment.Case{Plan: q, Scripts: scripts}, experiment.Build.Dir)
}

// made reports whether a build left what the server can be run from. What npm's
// scripts leave is that in any case.
func made(in *plan.Fetched, statuses []int) bool {
	return !in.Tree.Native && in.Tree.Python == nil || !slices.ContainsFunc(statuses, func(s int) bool { return s != 0 })
}

// finishBuild installs what a build has made where that is not the tree itself. It
// reports whether there is something to be run from.
func (p *probe) finishBuild(ctx context.Context) (bool, error) {
	in := p.fetched
	if in.Tree.Python == nil {
		return true, nil
	}
	box := &clients{opts: &p.opts, helpers: &p.helpers, trees: in.Cache, cache: filepath.Join(in.Cache.Dir, install.Archives), python: in.Tree.Python.Executable}
	f := &install.Fetcher{Cache: in.Cache, Sandbox: box.run, Progress: p.opts.Progress}
	built, err := f.Finish(ctx, in.Tree, in.Built)
	if err != nil {
		return false, fmt.Errorf("what it made cannot be installed: %w", err)
	}
	in.Built = built
	in.Package.Name, in.Package.Version, in.Package.Packages = in.Tree.Name, in.Tree.Version, in.Tree.Packages
	in.Bin, err = in.Tree.Choose(p.opts.Package.Bin)
	return true, err
}

// describeBuild says what became of the build.
func describeBuild(in *plan.Fetched, statuses []int, err error, took time.Duration) {
	b := &in.Package.Build
	b.State, b.Why, b.Took = session.BuildDone, "", took.Round(time.Millisecond)
	b.Steps = nil
	var failed []string
	for i, s := range in.Tree.Steps {
		status := -1
		if i < len(statuses) {
			status = statuses[i]
		}
		b.Steps = append(b.Steps, session.BuildStep{Package: s.Package, Event: s.Event, Status: status})
		if status != 0 {
			failed = append(failed, fmt.Sprintf("%s of %s (exit status %d)", s.Event, s.Package, status))
		}
	}
	switch {
	case err != nil:
		b.State, b.Why = session.BuildFailed, "the build did not finish: "+err.Error()
	case len(failed) > 0:
		b.State = session.BuildFailed
		b.Why = "scripts failed, as those do that download something: " + strings.Join(failed[:min(len(failed), 5)], ", ")
	}
}
