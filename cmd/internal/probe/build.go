package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// buildDir holds the log of the build, below the run's directory.
const buildDir = "build"

// maxBuilt bounds what a build may send out, in bytes: its tree, as an archive.
const maxBuilt = 3 << 30

// buildCPU is the least that a build may take: compilers do.
const buildCPU = 20 * time.Minute

// build runs the scripts that an installation of the package would run, watched,
// among the decoys that the server will find, and takes what they made of the tree.
func (p *plan) build(ctx context.Context, b sandbox.Backend, dir *os.Root) error {
	if err := dir.RemoveAll(buildDir); err != nil {
		return fmt.Errorf("remove an earlier build's log: %w", err)
	}
	in := p.installed
	if in == nil || in.tree == nil || len(in.tree.Steps) == 0 {
		return nil
	}
	if p.opts.NoBuild {
		in.pkg.Build.Why = fmt.Sprintf("--no-build left out the scripts of the installation: %d", len(in.tree.Steps))
		return nil
	}
	sub, err := openBelow(dir, buildDir)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Close() }()
	if in.built, err = in.cache.Temp(); err != nil {
		return usageOf(err)
	}
	began := time.Now()
	p.opts.Progress(fmt.Sprintf("building: %d scripts", len(in.tree.Steps)))
	statuses, err := p.runBuild(ctx, b, sub)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var usage *sandbox.UsageError
	if errors.As(err, &usage) {
		return err
	}
	usable := err == nil && in.made(statuses)
	if usable {
		usable, err = p.finish(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	in.settle(statuses, err, time.Since(began))
	if err = nil; !usable {
		// The server is run from what was fetched, and the report says so.
		err = os.RemoveAll(in.built)
		in.built = ""
	}
	p.takeBuilt()
	return err
}

// made reports whether the build left what the server can be run from. What npm's
// scripts leave is that in any case.
func (in *fetched) made(statuses []int) bool {
	return !in.tree.Native && in.tree.Python == nil || !slices.ContainsFunc(statuses, func(s int) bool { return s != 0 })
}

// finish installs what a build has made where that is not the tree itself. It
// reports whether there is something to be run from.
func (p *plan) finish(ctx context.Context) (bool, error) {
	in := p.installed
	if in.tree.Python == nil {
		return true, nil
	}
	f := &install.Fetcher{Cache: in.cache, Progress: p.opts.Progress}
	built, err := f.Finish(ctx, in.tree, in.built)
	if err != nil {
		return false, fmt.Errorf("what it made cannot be installed: %w", err)
	}
	in.built = built
	in.pkg.Name, in.pkg.Version, in.pkg.Packages = in.tree.Name, in.tree.Version, in.tree.Packages
	in.bin, err = in.tree.Choose(p.opts.Package.Bin)
	return true, err
}

// unmade reports whether the build was to make the server, and has not.
func (in *fetched) unmade() bool {
	return in != nil && in.tree != nil && (in.bin.Path == "" || in.built == "" && (in.tree.Pending || in.tree.Native))
}

// withoutServer writes the log of a server that was never made: what its build did
// is judged all the same.
func (p *plan) withoutServer(backend string, dir *os.Root) error {
	log, err := session.Create(dir, p.header(backend))
	if err == nil {
		log.Mark(session.Doubt(session.Gap{Code: session.GapBuildFailed, Phase: session.PhaseBuild, Text: "the build made no server to run"}))
		err = log.Close()
	}
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "is the disk of --out full?"}
	}
	return nil
}

// takeBuilt gives the plan what the build made in place of what was fetched.
func (p *plan) takeBuilt() {
	in := p.installed
	p.spec.ServerFrom, p.audit = in.host(), in.source()
	p.spec.Command = in.command(p.spec.ServerDir, p.opts.Args)
	files := in.files(p.spec.ServerDir, p.set.Home())
	p.spec.Files = slices.Concat(files, p.spec.Files[p.placed:])
	p.placed = len(files)
}

// tools are what the build starts.
func (in *fetched) tools() []string {
	switch {
	case in.tree.Native:
		return []string{"go"}
	case in.tree.Python != nil:
		return []string{in.tree.Python.Executable}
	}
	return []string{"node", "npm"}
}

// settle says what became of the build.
func (in *fetched) settle(statuses []int, err error, took time.Duration) {
	b := &in.pkg.Build
	b.State, b.Why, b.Took = session.BuildDone, "", took.Round(time.Millisecond)
	var failed []string
	for i, s := range in.tree.Steps {
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
		b.State, b.Why = session.BuildFailed, "the build did not come to its end: "+err.Error()
	case len(failed) > 0:
		b.State = session.BuildFailed
		b.Why = "scripts failed, as those do that download something: " + strings.Join(failed[:min(len(failed), 5)], ", ")
	}
}

// runBuild runs the build in a sandbox of its own, and returns the scripts' exit statuses.
func (p *plan) runBuild(ctx context.Context, b sandbox.Backend, dir *os.Root) (statuses []int, err error) {
	again := *p
	again.spec.Command, again.spec.Dir, again.spec.Tools = []string{"/bin/sh", "-s"}, p.spec.ServerDir, p.installed.tools()
	again.spec.Limits.Output, again.spec.Limits.CPU = maxBuilt, max(p.spec.Limits.CPU, buildCPU)
	if again.spec.Network, err = p.network(); err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(p.opts.Timeout+startTimeout, func() { cancel(fmt.Errorf("it took longer than %s", p.opts.Timeout)) })
	defer late.Stop()
	rec := &recorder{dir: dir, header: again.header(b.Name()), lines: wire.NewSplitter(0), secrets: p.secrets, stop: cancel, exited: make(chan struct{}), first: session.PhaseBuild}
	rec.header.Phase, rec.header.Package = session.PhaseBuild, nil
	rec.client = client.New(func([]byte) error { return nil }, client.Options{})
	out, in := io.Pipe()
	run, err := sandbox.Start(runCtx, b, again.spec, &builder{recorder: rec, out: in})
	if err != nil {
		return nil, startError(ctx, rec, errors.Join(rec.close(), err))
	}
	statuses, err = p.followBuild(runCtx, run, rec, out)
	_ = out.CloseWithError(io.ErrClosedPipe) // what still comes is not waited for
	stopCtx, done := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer done()
	_ = run.Stop(stopCtx, stopGrace)
	err = errors.Join(err, run.Close(stopCtx))
	if lost := run.Lost(); lost > 0 {
		rec.doubt(session.GapRecordsLost, session.PhaseBuild, fmt.Sprintf("%d observations were lost", lost))
	}
	if logErr := rec.close(); logErr != nil {
		return nil, &sandbox.UsageError{Err: logErr, Hint: "is the disk of --out full?"}
	}
	if err != nil && context.Cause(runCtx) != nil {
		err = context.Cause(runCtx)
	}
	return statuses, err
}

// followBuild hands the shell its script, waits for the scripts, looks at what
// they left, and then takes the tree.
func (p *plan) followBuild(ctx context.Context, run *sandbox.Run, rec *recorder, out *io.PipeReader) ([]int, error) {
	tree := p.installed.tree
	stop := context.AfterFunc(ctx, func() { _ = out.CloseWithError(context.Cause(ctx)) })
	defer stop()
	if err := run.Stdin([]byte(tree.BuildScript(p.spec.ServerDir, p.spec.Workspaces[0]))); err != nil {
		return nil, err
	}
	built := install.NewBuilt(out)
	statuses, err := built.Statuses(len(tree.Steps))
	if err != nil {
		return nil, err
	}
	c := &conversation{run: run, rec: rec}
	c.sync(ctx)
	c.search(ctx)
	if err := run.Stdin([]byte("\n")); err != nil {
		return statuses, err
	}
	return statuses, built.Tree(p.installed.built)
}

// builder is a recorder whose target's stdout is a build's own.
type builder struct {
	*recorder
	out *io.PipeWriter
}

// Stdout implements sandbox.Sink.
func (b *builder) Stdout(_ time.Duration, p []byte) { _, _ = b.out.Write(p) }

// Event implements sandbox.Sink: the reader must not wait for what has ended.
func (b *builder) Event(ev session.Event) {
	b.recorder.Event(ev)
	switch e := ev.Body.(type) {
	case session.EventEOF:
		if e.Stream == "stdout" {
			_ = b.out.Close()
		}
	case session.EventExit, session.EventError:
		_ = b.out.Close()
	}
}

// judgeBuild adds to a result what the build showed.
func (p *plan) judgeBuild(dir *os.Root, res *analyze.Result, o analyze.Options) error {
	if p.installed == nil || len(p.installed.pkg.Build.Steps) == 0 {
		return nil
	}
	sub, err := dir.OpenRoot(buildDir)
	if err != nil {
		return fmt.Errorf("read the build's log: %w", err)
	}
	defer func() { _ = sub.Close() }()
	log, err := session.Open(sub)
	if err != nil {
		// It did not come to a log; that it failed stands in the server's.
		return nil
	}
	o.Audit, o.AuditErr, o.Traced, o.Least = nil, nil, nil, false
	more, err := analyze.Judge(log, o)
	if err != nil {
		return fmt.Errorf("judge the build: %w", err)
	}
	for i := range more.Findings {
		more.Findings[i].Reproduce = res.Run.Reproduce
	}
	analyze.Add(res, more, "in the build", o)
	return nil
}

// listener keeps the beginning of what a program prints.
type listener struct {
	mu  sync.Mutex
	out []byte
}

func (l *listener) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(slices.Clone(l.out))
}

// Stdout implements sandbox.Sink.
func (l *listener) Stdout(_ time.Duration, p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = append(l.out, p[:min(len(p), 64<<10-len(l.out))]...)
}

// Stderr implements sandbox.Sink.
func (*listener) Stderr(time.Duration, []byte) {}

// Record implements sandbox.Sink.
func (*listener) Record(*trace.Record) {}

// Flow implements sandbox.Sink.
func (*listener) Flow(*trace.Flow) {}

// Event implements sandbox.Sink.
func (*listener) Event(session.Event) {}

// TraceError implements sandbox.Sink.
func (*listener) TraceError(error) {}
