package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Why the client is told that the connection is over.
var (
	errServerClosed = errors.New("the server closed its stdout")
	errServerEnded  = errors.New("the server ended")
	errStreamEnded  = errors.New("the server's stream of events ended")
)

// stopGrace is how long a server has to end after its stdin did, and again after TERM.
const stopGrace = 2 * time.Second

// exitGrace is how long a server that closed its stdout has to end by itself.
const exitGrace = time.Second

// startTimeout bounds the start: a large server's files are copied in by then.
const startTimeout = 2 * time.Minute

var errLate = fmt.Errorf("the sandbox did not start in %s", startTimeout)

// Outcome is what a probe yields.
type Outcome struct {
	Result *analyze.Result
	// Dir holds the run's files.
	Dir string
	// Backend is the sandbox's name, Why says why it was chosen where that was open.
	Backend string
	Why     string
	// replayed says that all calls of a replay were made.
	replayed bool
}

// Run probes one target. Errors that the user can mend are *sandbox.UsageError.
// When ctx ends, the sandbox is removed, the log is closed, and the error is ctx's.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	o.fill()
	p, where, err := prepare(ctx, o)
	backend := where.backend
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.installed.remove() }()
	dir, name, err := openOut(o.Out, p.place())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	p.hide(o.Out, name)
	if err := p.build(ctx, backend, dir); err != nil {
		return nil, err
	}
	audited := p.startAudit(ctx)
	p.learn(ctx, backend)
	runErr := p.sessions(ctx, backend, dir)
	report, auditErr := audited()
	if runErr != nil {
		return nil, runErr
	}
	judging := analyze.Options{FailOn: o.FailOn, Audit: report, AuditErr: auditErr, Version: o.Version, Policy: o.Policy, Baseline: o.Baseline, Changed: o.Changed, Least: o.Least}
	res, err := judge(dir, judging)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(p.judgeBuild(dir, res, judging), p.addVaried(dir, res, judging)); err != nil {
		return nil, err
	}
	if o.Replay == nil {
		s := &shrinker{p: p, backend: backend, dir: dir, out: name, steps: p.steps}
		if err := s.minimize(ctx, res); err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "is the disk full?"}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := p.startFurther(ctx, backend, dir, res, judging); err != nil {
			return nil, err
		}
	}
	if err := p.writeReports(dir, res); err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "is the disk full?"}
	}
	return &Outcome{Result: res, Dir: name, Backend: backend.Name(), Why: where.why, replayed: o.Replay != nil && p.played > 0}, nil
}

// prepare settles all that can be settled before a sandbox starts: a package is
// fetched by then.
func prepare(ctx context.Context, o Options) (*plan, choice, error) {
	if o.Package == nil {
		p, err := newPlan(o, nil)
		if err != nil {
			return nil, choice{}, err
		}
		c, err := choose(ctx, o)
		p.watchBy(c.tracer)
		return p, c, err
	}
	if o.Package.Kind == install.KindOCI {
		if o.Sandbox != "auto" && o.Sandbox != "docker" {
			return nil, choice{}, &sandbox.UsageError{Err: fmt.Errorf("an image cannot run in the %s sandbox", o.Sandbox), Hint: "use --sandbox docker"}
		}
		o.Sandbox, o.Image = "docker", o.Package.Name
	}
	c, err := choose(ctx, o)
	if err != nil {
		return nil, choice{}, err
	}
	in, err := o.install(ctx, c.backend)
	if err != nil {
		return nil, choice{}, err
	}
	o.Tracer = c.tracer
	p, err := newPlan(o, in)
	if err != nil {
		return nil, choice{}, errors.Join(err, in.remove())
	}
	return p, c, nil
}

// place names the run's directory: a replay leaves the files alone of the run
// that it repeats.
func (p *plan) place() string {
	if p.opts.Replay != nil {
		return p.target + " replay"
	}
	return p.target
}

func judge(dir *os.Root, o analyze.Options) (*analyze.Result, error) {
	log, err := session.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("read the run's log: %w", err)
	}
	varied, done, err := variedLogs(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	o.Varied = varied
	traced, err := dir.OpenRoot(tracedDir)
	if errors.Is(err, os.ErrNotExist) {
		return analyze.Judge(log, o)
	}
	if err != nil {
		return nil, fmt.Errorf("read the log of the run under ptrace: %w", err)
	}
	defer func() { _ = traced.Close() }()
	if o.Traced, err = session.Open(traced); err != nil {
		return nil, fmt.Errorf("read the log of the run under ptrace: %w", err)
	}
	return analyze.Judge(log, o)
}

// tracedDir holds the log of the run under ptrace where both tracers were asked for.
const tracedDir = "traced"

// sessions runs the server once, or once under each tracer: first where it cannot
// tell that it is watched.
func (p *plan) sessions(ctx context.Context, b sandbox.Backend, dir *os.Root) error {
	if err := dir.RemoveAll(tracedDir); err != nil {
		return fmt.Errorf("remove an earlier run's log: %w", err)
	}
	if p.installed.unmade() {
		return p.withoutServer(b.Name(), dir)
	}
	if err := p.session(ctx, b, dir); err != nil {
		return err
	}
	if err := p.varied(ctx, b, dir); err != nil || p.opts.Tracer != TracerBoth {
		return err
	}
	traced, err := openBelow(dir, tracedDir)
	if err != nil {
		return err
	}
	defer func() { _ = traced.Close() }()
	second := *p
	second.opts.Tracer, second.spec.Tracer = sandbox.TracerStrace, sandbox.TracerStrace
	p.opts.Progress("once more, under ptrace")
	return second.session(ctx, b, traced)
}

// startAudit audits the server's source beside the run. The function that it
// returns waits for the report.
func (p *plan) startAudit(ctx context.Context) func() (*audit.Report, error) {
	if in := p.installed; in != nil && in.unread != nil {
		return func() (*audit.Report, error) { return nil, in.unread }
	}
	if p.audit == "" || p.opts.sourceless {
		return func() (*audit.Report, error) { return nil, nil }
	}
	type answer struct {
		report *audit.Report
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := audit.Dir(ctx, p.audit, p.unaudited()...)
		if r != nil {
			r.Profile.Path = relative(p.audit)
		}
		done <- answer{r, err}
	}()
	return func() (*audit.Report, error) {
		a := <-done
		return a.report, a.err
	}
}

// session runs the server once, or twice where it ends at a first message of
// the newer protocol.
func (p *plan) session(ctx context.Context, b sandbox.Backend, dir *os.Root) error {
	err := p.attempt(ctx, b, dir, false)
	if errors.Is(err, client.ErrEndedAtDiscover) {
		p.opts.Progress("the server ended at server/discover: starting it again with initialize")
		err = p.attempt(ctx, b, dir, true)
	}
	if errors.Is(err, client.ErrEndedAtDiscover) {
		return nil
	}
	return err
}

func (p *plan) attempt(ctx context.Context, b sandbox.Backend, dir *os.Root, skipDiscover bool) error {
	runCtx, cancelRun := context.WithCancelCause(ctx)
	defer cancelRun(nil)
	rec := &recorder{dir: dir, header: p.header(b.Name()), lines: wire.NewSplitter(0), secrets: p.secrets, stop: cancelRun, exited: make(chan struct{}), web: p.opts.Transport != TransportStdio, awaits: awaits{name: p.preload},
		homes: newOtherHome(p.set, append([]string{p.spec.ServerDir}, p.spec.Workspaces...))}
	var run *sandbox.Run
	ready := make(chan struct{})
	way := p.carry(rec, ready, func() *sandbox.Run { return run })
	defer way.close()
	rec.client = client.New(way.send, client.Options{Info: p.client, Declines: true, SkipDiscover: skipDiscover, CallTimeout: p.opts.CallTimeout, HandshakeTimeout: min(30*time.Second, p.opts.Timeout), DiscoverTimeout: p.discoverTimeout()})
	p.opts.Progress("starting in the " + b.Name() + " sandbox")
	late := time.AfterFunc(startTimeout, func() { cancelRun(errLate) })
	run, err := sandbox.Start(runCtx, b, p.spec, rec)
	late.Stop()
	if err != nil {
		return startError(ctx, rec, errors.Join(rec.close(), err))
	}
	close(ready)
	began := time.Now()
	driveErr := p.exercise(runCtx, run, rec)
	p.took = time.Since(began)
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	closeErr := run.Close(closeCtx)
	if closeErr != nil {
		// What was seen is judged all the same.
		rec.doubt(session.GapSandboxNotRemoved, "", "the sandbox is still there (coalmine clean removes it): "+closeErr.Error())
	}
	rec.reached(run)
	if rec.preloadMissed() {
		rec.doubt(session.GapClockNotMoved, "", "the server's clock could not be moved: its program loads no libraries")
	}
	if lost := run.Lost(); lost > 0 {
		rec.doubt(session.GapRecordsLost, "", fmt.Sprintf("%d observations were lost", lost))
	}
	p.triedLoopback, p.lookedIn = rec.loopback, rec.homes.found
	logErr := rec.close()
	switch {
	case ctx.Err() != nil && closeErr != nil:
		return &LeftError{Err: closeErr, Why: context.Cause(ctx)}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case logErr != nil:
		return &sandbox.UsageError{Err: logErr, Hint: "is the disk of --out full?"}
	}
	return driveErr
}

// discoverTimeout is how long a server may stay silent before it is taken for
// one of the older era: one that opens a port answers nothing before it has.
func (p *plan) discoverTimeout() time.Duration {
	if p.opts.Transport != TransportStdio {
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
		return &sandbox.UsageError{Err: rec.err, Hint: "is the disk of --out full?"}
	}
	if rec.failure != nil {
		return &sandbox.UsageError{Err: errors.New(rec.failure.Reason), Hint: rec.failure.Hint}
	}
	return fmt.Errorf("start the sandbox: %w", err)
}

// exercise speaks with a started server until its shutdown. What a server does
// wrong is recorded, and is no error.
func (p *plan) exercise(ctx context.Context, run *sandbox.Run, rec *recorder) error {
	c := &conversation{Client: rec.client, run: run, rec: rec}
	deadline := time.Now().Add(p.opts.Timeout)
	discoverErr := p.speak(ctx, c, deadline)
	p.keep(ctx, c)
	rec.awaitExit(ctx)
	if ctx.Err() == nil {
		c.phase(finding.PhaseShutdown)
	}
	p.opts.Progress("stopping")
	stopCtx, cancel := context.WithTimeout(ctx, 4*stopGrace)
	defer cancel()
	stop := run.Stop
	if p.byTerm {
		stop = run.Terminate
	}
	if err := stop(stopCtx, stopGrace); err != nil && ctx.Err() == nil {
		rec.doubt(session.GapSandboxNotStopped, finding.PhaseShutdown, "the sandbox did not stop in time")
	}
	exit, err := run.Wait(stopCtx)
	if err == nil && exit.Reason != "" && ctx.Err() == nil && rec.exit == nil {
		rec.doubt(session.GapSandboxEnded, "", exit.Reason)
	}
	return discoverErr
}

// idle is how long the server is watched after its last call: a moment where many
// runs are made for one answer.
func (p *plan) idle() time.Duration {
	if p.opts.exact != nil || p.opts.Replay != nil || p.work != nil && p.vary == nil {
		return min(shortIdle, p.opts.Idle)
	}
	return p.opts.Idle
}

// shortIdle is for trials of calls.
const shortIdle = 150 * time.Millisecond

// speak is the conversation: handshake, list, calls, idle.
func (p *plan) speak(ctx context.Context, c *conversation, deadline time.Time) error {
	c.phase(finding.PhaseHandshake)
	p.opts.Progress("handshake")
	surface, err := c.Connect(ctx)
	c.sync(ctx)
	if err != nil {
		if errors.Is(err, client.ErrEndedAtDiscover) {
			c.doubt(session.GapHandshakeFailed, finding.PhaseHandshake, "the server ended at server/discover")
			return err
		}
		c.doubt(session.GapHandshakeFailed, finding.PhaseHandshake, "the handshake failed: "+err.Error())
		return nil
	}
	c.surface = surface
	c.phase(finding.PhaseList)
	p.opts.Progress("listing")
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := c.List(bounded, surface); err != nil {
		c.doubt(session.GapNotListed, finding.PhaseList, "not everything was listed: "+err.Error())
	}
	c.sync(ctx)
	if p.opts.exact == nil && p.work == nil && p.opts.Replay == nil {
		c.rec.born.await(bounded, time.Until(deadline)/4)
		c.sync(ctx)
	}
	c.phase(finding.PhaseIdle)
	if err := p.drive(ctx, c, time.Until(deadline)); err != nil {
		c.doubt(session.GapCallsIncomplete, finding.PhaseCall, "the calls were not completed: "+err.Error())
	}
	select {
	case <-time.After(p.idle()):
	case <-ctx.Done():
	}
	c.sync(ctx)
	c.search(ctx)
	return nil
}

// doubt records a reason for which the run can not be called clean.
func (c *conversation) doubt(code session.Code, phase finding.Phase, text string) {
	c.rec.doubt(code, phase, text)
}

// relative writes a path as a reviewer in the working directory would. It never
// leads out of that directory, nor names what only this machine has: of a package
// installed elsewhere the part from the installation's tree on is left, of
// anything else the last element.
func relative(p string) string {
	if p == "" {
		return "."
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return filepath.Base(p)
	}
	wd, err := os.Getwd()
	if err != nil {
		return filepath.Base(abs)
	}
	// Below the root directory everything is somewhere: that is no repository.
	if rel, err := filepath.Rel(wd, abs); err == nil && filepath.IsLocal(rel) && wd != "/" {
		return filepath.ToSlash(rel)
	}
	for _, tree := range []string{"node_modules", "site-packages", "dist-packages"} {
		if i := strings.LastIndex(filepath.ToSlash(abs), "/"+tree+"/"); i >= 0 {
			return filepath.ToSlash(abs)[i+1:]
		}
	}
	return filepath.Base(abs)
}
