package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// installation is the work of a build: it runs the scripts of a tree, watched, among the decoys
// that the server will find, and writes the tree that they leave into the host's directory. What
// it learned stands beside any error.
type installation struct {
	out *io.PipeReader
}

func (b *installation) prepare(_ context.Context, s *Session, _ *sandbox.Spec) (sandbox.Sink, error) {
	s.rec.first, s.rec.web = session.PhaseBuild, false
	s.rec.header.Phase, s.rec.header.Package = session.PhaseBuild, nil
	s.rec.client = noClient()
	out, in := io.Pipe()
	b.out = out
	return &builder{recorder: s.rec, out: in}, nil
}

// noClient takes what a recorder tells the client of a server, where there is none.
func noClient() *client.Client {
	return client.New(func([]byte) error { return nil }, client.Options{})
}

// leastBuild is how long a build may take however short the run is to be: a database in C is compiled
// for minutes, and half a build is useless.
const leastBuild = 5 * time.Minute

func (b *installation) do(ctx context.Context, s *Session) error {
	most := max(s.plan.Budget.Timeout, leastBuild)
	late := time.AfterFunc(most, func() { s.rec.stop(fmt.Errorf("it took longer than %s", most)) })
	defer late.Stop()
	err := s.followBuild(ctx, b.out)
	_ = b.out.CloseWithError(io.ErrClosedPipe) // what still comes is not waited for
	stopCtx, done := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer done()
	_ = s.sandbox.Stop(stopCtx, stopGrace)
	err = errors.Join(err, s.sandbox.Close(stopCtx))
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return err
}

func (b *installation) close() error { return nil }

// followBuild hands the shell its script, waits for the scripts, looks at what
// they left, and then takes the tree.
func (s *Session) followBuild(ctx context.Context, out *io.PipeReader) error {
	tree, to := s.plan.Drive.Scripts.Tree, s.plan.Drive.Scripts.To
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
