package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	// stopGrace is how long a server has to end after its stdin did, and again after TERM.
	stopGrace = 2 * time.Second
	// exitGrace is how long a server that closed its stdout has to end by itself.
	exitGrace = time.Second
	// closeTimeout bounds the removal of a sandbox.
	closeTimeout = 30 * time.Second
)

// StartTimeout bounds the start: a large server's files are copied in by then.
const StartTimeout = 2 * time.Minute

var errStartTimeout = fmt.Errorf("the sandbox did not start in %s", StartTimeout)

// Unwritable is the error of a run whose files cannot be written. It has a remedy where the
// disk or a limit is the cause; what else stands in the way says its own.
func Unwritable(err error) error {
	hint := ""
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		hint = "is the disk of --out full?"
	}
	return &sandbox.UsageError{Err: err, Hint: hint}
}

// Driver uses a session that has been opened and listed: it makes the calls.
type Driver func(context.Context, *Session) error

// AllRan reports whether a recording has all branches of the server's own code.
type AllRan func(*coverage.Recording) bool

// Runner makes runs in one backend. It may be used from many goroutines.
type Runner struct {
	Backend sandbox.Backend
	// Progress takes one line about each step. It may be called from many goroutines.
	Progress func(line string)
	// Driver makes the calls in place of the plan's Drive, nil for that.
	Driver Driver
	// AllRan ends the search for inputs that reach more code, nil where nobody knows the code.
	AllRan AllRan
	// Sink takes what a helper prints and does, beside the log, nil for nobody.
	Sink sandbox.Sink
	// Connect adds to the sandbox of a helper what leads out of it, nil for nothing.
	Connect func(*sandbox.Spec)
}

// work is what is done in a run's sandbox.
type work interface {
	// prepare comes before the start: it adds to the specification, and returns who takes what
	// the sandbox yields.
	prepare(ctx context.Context, s *Session, spec *sandbox.Spec) (sandbox.Sink, error)
	// do comes after the start, and ends with what is run.
	do(ctx context.Context, s *Session) error
	// close gives back what prepare took, also after an error.
	close() error
}

// Run makes the run of a plan, of whatever kind its Drive is, with its files in dir. When ctx
// ends, the sandbox is removed, the log is closed, and the error is ctx's. What a server does
// wrong is recorded, and is no error; errors that the user can mend are *sandbox.UsageError.
func (r Runner) Run(ctx context.Context, p plan.Plan, dir *os.Root) (Observations, error) {
	p = p.In(r.Backend.Name())
	if err := WritePlan(dir, p); err != nil {
		return Observations{}, err
	}
	switch p.Drive.Kind {
	case plan.DriveNone:
		return Observations{}, empty(p, dir)
	case plan.DriveBuild:
		return r.start(ctx, p, dir, &installation{})
	case plan.DriveHelper:
		return r.start(ctx, p, dir, &helper{sink: r.Sink, connect: r.Connect})
	}
	seen, err := r.start(ctx, p, dir, &conversation{runner: r})
	if errors.Is(err, client.ErrEndedAtDiscover) {
		r.Progress("the server ended at server/discover: starting it again with initialize")
		p = p.Introduced()
		if err := WritePlan(dir, p); err != nil {
			return Observations{}, err
		}
		seen, err = r.start(ctx, p, dir, &conversation{runner: r})
		seen.Introduced = true
	}
	if errors.Is(err, client.ErrEndedAtDiscover) {
		err = nil
	}
	return seen, err
}

// WritePlan writes the plan's file into a run's directory.
func WritePlan(dir *os.Root, p plan.Plan) error {
	data, err := p.Encode()
	if err != nil {
		return err
	}
	if err := (session.Output{Root: dir, Redactor: p.Redactor}).WriteBytes(plan.FileName, data); err != nil {
		return Unwritable(err)
	}
	return nil
}

// start is one start of a plan's sandbox, with a log of what the work in it yields.
func (r Runner) start(ctx context.Context, p plan.Plan, dir *os.Root, w work) (seen Observations, err error) {
	runCtx, cancelRun := context.WithCancelCause(ctx)
	defer cancelRun(nil)
	spec, err := specOf(p)
	if err != nil {
		return Observations{}, err
	}
	s := &Session{plan: &p, rec: newRecorder(p, dir, cancelRun), progress: r.Progress, driver: r.Driver, allRan: r.AllRan, ready: make(chan struct{})}
	defer func() { err = errors.Join(err, w.close()) }()
	sink, err := w.prepare(ctx, s, &spec)
	if err != nil {
		return Observations{}, err
	}
	late := time.AfterFunc(StartTimeout, func() { cancelRun(errStartTimeout) })
	started, err := sandbox.Start(runCtx, r.Backend, spec, sink)
	late.Stop()
	if err != nil {
		return Observations{}, startError(ctx, s.rec, errors.Join(s.rec.close(), err))
	}
	s.sandbox = started
	close(s.ready)
	began := time.Now()
	workErr := w.do(runCtx, s)
	s.seen.Took = time.Since(began)
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	closeErr := started.Close(closeCtx)
	s.seen.Reached, s.seen.ReachedErr = started.Came()
	logErr := s.finish(closeErr)
	switch {
	case ctx.Err() != nil && closeErr != nil:
		return s.seen, &LeftError{Err: closeErr, Why: context.Cause(ctx)}
	case ctx.Err() != nil:
		return s.seen, context.Cause(ctx)
	case logErr != nil:
		return s.seen, Unwritable(logErr)
	}
	return s.seen, workErr
}

// finish records what is known only when the sandbox has ended, and closes the log.
func (s *Session) finish(closeErr error) error {
	if closeErr != nil {
		// What was seen is judged all the same.
		s.doubt(session.GapSandboxNotRemoved, "", "the sandbox is still there (coalmine clean removes it): "+closeErr.Error())
	}
	s.rec.reached(s.sandbox)
	if s.rec.preloadMissed() {
		s.doubt(session.GapClockNotMoved, "", "the server's clock could not be moved: its program loads no libraries")
	}
	if s.seen.Lost = s.sandbox.Lost(); s.seen.Lost > 0 {
		s.doubt(session.GapRecordsLost, finding.Phase(s.rec.header.Phase), fmt.Sprintf("%d observations were lost", s.seen.Lost))
	}
	s.seen.TriedLoopback, s.seen.LookedIn = s.rec.loopback, s.rec.homes.found
	s.seen.NoNames = ownNames(s.rec.noNames, s.seen.Steps)
	return s.rec.close()
}

// LeftError says that a run was ended and its sandbox could not be removed.
type LeftError struct{ Err, Why error }

// Error implements error.
func (e *LeftError) Error() string { return e.Err.Error() }

// Unwrap gives both errors.
func (e *LeftError) Unwrap() []error { return []error{e.Err, e.Why} }

// startError tells a failure that the user can mend from a server's own.
func startError(ctx context.Context, rec *recorder, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var usage *sandbox.UsageError
	if errors.As(err, &usage) {
		return &NotStarted{err}
	}
	if rec.err != nil {
		return Unwritable(rec.err)
	}
	if rec.failure != nil {
		return &NotStarted{&sandbox.UsageError{Err: errors.New(rec.failure.Reason), Hint: rec.failure.Hint}}
	}
	return &NotStarted{fmt.Errorf("start the sandbox: %w", err)}
}

// NotStarted is the error of a run that did not begin.
type NotStarted struct{ Err error }

// Error implements error.
func (e *NotStarted) Error() string { return e.Err.Error() }

// Unwrap implements errors.Unwrap.
func (e *NotStarted) Unwrap() error { return e.Err }

// newRecorder is the sink of a plan's run.
func newRecorder(p plan.Plan, dir *os.Root, stop context.CancelCauseFunc) *recorder {
	var early []session.Mark
	if _, carried := served(&p); len(carried) > 0 {
		early = append(early, session.Mark{Kind: session.MarkServed, Oracles: carried})
	}
	return &recorder{
		early: early, out: session.Output{Root: dir, Redactor: p.Redactor}, header: header(&p), lines: wire.NewSplitter(0), stop: stop, exited: make(chan struct{}),
		web: p.Server.Transport != plan.TransportStdio, preload: preload{name: p.Preload},
		homes: newForeignHome(p.Decoys, append([]string{p.Server.ServerDir}, p.Server.Workspaces...)),
	}
}

// specOf is what the sandbox is told of a plan.
func specOf(p plan.Plan) (sandbox.Spec, error) {
	network, err := networkOf(&p)
	if err != nil {
		return sandbox.Spec{}, err
	}
	s := sandbox.Spec{
		Command: p.Server.Command, Tools: p.Server.Tools, Dir: p.Server.Dir, Hostname: p.Identity.Hostname,
		User:  agent.User{Name: p.Identity.User, UID: UID, GID: UID, Home: p.Identity.Home},
		Files: p.Files, Watch: p.Watch, Canaries: p.Decoys.Canaries(),
		ServerDir: p.Server.ServerDir, ServerFrom: p.Server.From, Hidden: p.Server.Hidden, View: p.View, Bounds: p.Bounds(), Workspaces: p.Server.Workspaces,
		Image: p.Sandbox.Image, Runtime: p.Sandbox.Runtime, Network: network, Ring: p.Sandbox.Ring, Places: p.Sandbox.Places, Limits: p.Sandbox.Limits, NoTLSProbes: p.Sandbox.NoTLSProbes, AllowUserNS: p.Sandbox.AllowUserNS,
		AgentPath: p.Sandbox.AgentPath, RunID: p.RunID,
	}
	for _, v := range p.Env {
		s.Env = append(s.Env, v.Name+"="+v.Value)
	}
	if p.Watched() {
		s.TraceSet = trace.Looks
	}
	if p.Watched() && !p.Straced() {
		s.Tracer = sandbox.TracerEBPF
	}
	return s, nil
}

// Shows lists what of this machine the run of a plan would show.
func (r Runner) Shows(ctx context.Context, p plan.Plan) ([]session.Shown, error) {
	b, ok := r.Backend.(sandbox.Shower)
	if !ok {
		return nil, nil
	}
	spec, err := specOf(p)
	if err != nil {
		return nil, err
	}
	return b.Shows(ctx, spec)
}

// UID is the target's user in every sandbox: the first ordinary one of Linux.
const UID = 1000
