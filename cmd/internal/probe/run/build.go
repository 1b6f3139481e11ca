package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// maxBuilt bounds what a build may send out, in bytes: its tree, as an archive.
	maxBuilt = 3 << 30
	// buildCPU is the least that a build may take: compilers do.
	buildCPU = 20 * time.Minute
)

// Build runs the scripts of a tree in a sandbox like the server's, watched, among the
// decoys that the server will find, with the run's files in dir. It writes the tree
// that they leave into the host's directory to. What it learned stands beside any error.
func (r Runner) Build(ctx context.Context, p plan.Plan, tree *install.Tree, dir *os.Root, to string) (Observations, error) {
	p.Server.Command, p.Server.Dir = []string{"/bin/sh", "-s"}, p.Server.ServerDir
	p.Sandbox.Backend = r.Backend.Name()
	p.Sandbox.Limits.Output, p.Sandbox.Limits.CPU = maxBuilt, max(p.Sandbox.Limits.CPU, buildCPU)
	if err := WritePlan(dir, p); err != nil {
		return Observations{}, err
	}
	spec, err := specOf(p)
	if err != nil {
		return Observations{}, err
	}
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(p.Budget.Timeout+StartTimeout, func() { cancel(fmt.Errorf("it took longer than %s", p.Budget.Timeout)) })
	defer late.Stop()
	rec := newRecorder(p, dir, cancel)
	rec.first, rec.web = session.PhaseBuild, false
	rec.header.Phase, rec.header.Package = session.PhaseBuild, nil
	rec.client = client.New(func([]byte) error { return nil }, client.Options{})
	out, in := io.Pipe()
	started, err := sandbox.Start(runCtx, r.Backend, spec, &builder{recorder: rec, out: in})
	if err != nil {
		return Observations{}, startError(ctx, rec, errors.Join(rec.close(), err))
	}
	s := &Session{plan: &p, sandbox: started, rec: rec, progress: r.Progress}
	err = s.followBuild(runCtx, tree, out, to)
	_ = out.CloseWithError(io.ErrClosedPipe) // what still comes is not waited for
	stopCtx, done := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer done()
	_ = started.Stop(stopCtx, stopGrace)
	err = errors.Join(err, started.Close(stopCtx))
	if lost := started.Lost(); lost > 0 {
		s.doubt(session.GapRecordsLost, finding.PhaseBuild, fmt.Sprintf("%d observations were lost", lost))
	}
	if logErr := rec.close(); logErr != nil {
		return Observations{}, Unwritable(logErr)
	}
	if err != nil && context.Cause(runCtx) != nil {
		err = context.Cause(runCtx)
	}
	return s.seen, err
}

// followBuild hands the shell its script, waits for the scripts, looks at what
// they left, and then takes the tree.
func (s *Session) followBuild(ctx context.Context, tree *install.Tree, out *io.PipeReader, to string) error {
	stop := context.AfterFunc(ctx, func() { _ = out.CloseWithError(context.Cause(ctx)) })
	defer stop()
	if err := s.sandbox.Stdin([]byte(tree.BuildScript(s.plan.Server.ServerDir, s.plan.Server.Workspaces[0]))); err != nil {
		return err
	}
	built := install.NewBuilt(out)
	statuses, err := built.Statuses(len(tree.Steps))
	if err != nil {
		return err
	}
	s.seen.Statuses = statuses
	s.sync(ctx)
	s.search(ctx, true)
	if err := s.sandbox.Stdin([]byte("\n")); err != nil {
		return err
	}
	s.seen.Dropped, err = built.Tree(to, s.plan.Server.ServerDir)
	return err
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
