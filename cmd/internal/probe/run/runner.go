package run

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Why the client is told that the connection is over.
var (
	errServerClosed = errors.New("the server closed its stdout")
	errServerEnded  = errors.New("the server ended")
	errStreamEnded  = errors.New("the server's stream of events ended")
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
}

// Run makes the run of a plan, with its files in dir. When ctx ends, the sandbox is
// removed, the log is closed, and the error is ctx's. What a server does wrong is
// recorded, and is no error; errors that the user can mend are *sandbox.UsageError.
func (r Runner) Run(ctx context.Context, p plan.Plan, dir *os.Root) (Observations, error) {
	p.Sandbox.Backend = r.Backend.Name()
	if err := WritePlan(dir, p); err != nil {
		return Observations{}, err
	}
	seen, err := r.attempt(ctx, p, dir, false)
	if errors.Is(err, client.ErrEndedAtDiscover) {
		r.Progress("the server ended at server/discover: starting it again with initialize")
		seen, err = r.attempt(ctx, p, dir, true)
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

// attempt is one start of the server, and its session.
func (r Runner) attempt(ctx context.Context, p plan.Plan, dir *os.Root, skipDiscover bool) (seen Observations, err error) {
	runCtx, cancelRun := context.WithCancelCause(ctx)
	defer cancelRun(nil)
	spec, err := specOf(p)
	if err != nil {
		return Observations{}, err
	}
	spec.Compare, spec.Await = true, true
	beside, err := r.startServices(ctx, &p)
	if err != nil {
		return Observations{}, err
	}
	defer func() { err = errors.Join(err, beside.close()) }()
	beside.serve(&spec)
	rec := newRecorder(p, dir, cancelRun)
	var started *sandbox.Run
	ready := make(chan struct{})
	conn := connect(&p, rec, ready, func() *sandbox.Run { return started })
	defer conn.close()
	rec.client = client.New(conn.send, client.Options{
		Info: p.Identity.Client, Declines: true, Model: modelsAnswer, Roots: rootsOf(&p), SkipDiscover: skipDiscover, CallTimeout: p.Budget.CallTimeout,
		HandshakeTimeout: min(30*time.Second, p.Budget.Timeout), DiscoverTimeout: discoverTimeout(&p),
	})
	r.Progress("starting in the " + r.Backend.Name() + " sandbox")
	late := time.AfterFunc(StartTimeout, func() { cancelRun(errStartTimeout) })
	started, err = sandbox.Start(runCtx, r.Backend, spec, rec)
	late.Stop()
	if err != nil {
		return Observations{}, startError(ctx, rec, errors.Join(rec.close(), err))
	}
	close(ready)
	s := &Session{Client: rec.client, plan: &p, sandbox: started, rec: rec, progress: r.Progress, driver: r.Driver, allRan: r.AllRan, endpoint: conn.endpoint}
	began := time.Now()
	driveErr := s.exercise(runCtx)
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
	return s.seen, driveErr
}

// modelsAnswer is what a server hears of the model that it asks for an answer.
const modelsAnswer = "I have read this, and have nothing to add."

// rootsOf are the workspaces of a plan, as a client offers them.
func rootsOf(p *plan.Plan) []client.Root {
	var out []client.Root
	for _, dir := range p.Server.Workspaces {
		out = append(out, client.Root{URI: (&url.URL{Scheme: "file", Path: dir}).String(), Name: path.Base(dir)})
	}
	return out
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
	if lost := s.sandbox.Lost(); lost > 0 {
		s.doubt(session.GapRecordsLost, "", fmt.Sprintf("%d observations were lost", lost))
	}
	s.seen.TriedLoopback, s.seen.LookedIn = s.rec.loopback, s.rec.homes.found
	s.seen.NoNames = ownNames(s.rec.noNames, s.seen.Steps)
	return s.rec.close()
}

// discoverTimeout is how long a server may stay silent before it is taken for
// one of the older era: one that opens a port answers nothing before it has.
func discoverTimeout(p *plan.Plan) time.Duration {
	if p.Server.Transport != plan.TransportStdio {
		return 15 * time.Second
	}
	return 3 * time.Second
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
		return err
	}
	if rec.err != nil {
		return Unwritable(rec.err)
	}
	if rec.failure != nil {
		return &sandbox.UsageError{Err: errors.New(rec.failure.Reason), Hint: rec.failure.Hint}
	}
	return fmt.Errorf("start the sandbox: %w", err)
}

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

// NotStarted is the error of a run that did not begin.
type NotStarted struct{ Err error }

// Error implements error.
func (e *NotStarted) Error() string { return e.Err.Error() }

// Unwrap implements errors.Unwrap.
func (e *NotStarted) Unwrap() error { return e.Err }

// Start runs a plan's command with the sink given until it ends by itself, and
// returns how it ended and how many observations were lost. Nothing is written. connect adds to the
// sandbox what leads out of it.
func (r Runner) Start(ctx context.Context, p plan.Plan, sink sandbox.Sink, connect ...func(*sandbox.Spec)) (sandbox.Exit, uint64, error) {
	spec, err := specOf(p)
	if err != nil {
		return sandbox.Exit{}, 0, err
	}
	for _, add := range connect {
		add(&spec)
	}
	started, err := sandbox.Start(ctx, r.Backend, spec, sink)
	if err != nil {
		return sandbox.Exit{}, 0, &NotStarted{err}
	}
	_ = started.CloseStdin()
	exit, err := started.Wait(ctx)
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return exit, started.Lost(), errors.Join(err, started.Close(closeCtx))
}
