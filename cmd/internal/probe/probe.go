package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/shrink"
	"github.com/coalmine-dev/coalmine/cmd/internal/textjudge"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Outcome is what a probe yields.
type Outcome struct {
	Result *analyze.Result
	// Dir holds the target's files.
	Dir string
	// Backend is the sandbox's name, Why says why it was chosen where that was open.
	Backend string
	Why     string
	// Redactor takes out of what is printed the values that the user passed, nil for none.
	Redactor *canaries.Redactor
	// replayed says that a replay's calls were made.
	replayed bool
	// unstarted is the package whose server ended before it answered, nil for none.
	unstarted *session.Package
}

// Replayed reports whether all calls of a replay were made, or the server ended at one.
func (o *Outcome) Replayed() bool { return o.replayed }

// probe is one target on its way to a Result.
type probe struct {
	opts    plan.Options
	fetched *plan.Fetched // nil for a command that was there
	runner  run.Runner
	plan    plan.Plan // of the declared run
	dir     *os.Root
	out     session.Output // dir, to write to
	name    string         // of dir
	jobs    experiment.Jobs
	count   experiment.Count
	found   found
	helpers helpers
	output  string // where runs write within the server's directory, "" for elsewhere
	runs    []session.IndexedRun
	// earlier are what the target declared and did before.
	earlier []*analyze.Earlier
	// covered is the run that recorded which code ran.
	covered []session.IndexedRun
}

// Seams are what only tests change. The zero value changes nothing.
type Seams struct {
	// Driver makes the calls in place of synth's, nil for the usual one.
	Driver run.Driver
	// Further are those of the further runs.
	Further experiment.Seams
	// Cover records which code runs also where none of it could do harm.
	Cover bool
	// Ring is the size of eBPF's buffer in bytes, 0 for the usual one.
	Ring int
}

// Run probes one target. Errors that the user can mend are *sandbox.UsageError.
// When ctx ends, the sandboxes are removed, the logs are closed, and the error is ctx's.
func Run(ctx context.Context, o plan.Options) (*Outcome, error) { return RunWith(ctx, o, Seams{}) }

// RunWith is Run for tests.
func RunWith(ctx context.Context, o plan.Options, test Seams) (out *Outcome, err error) {
	o.Fill()
	o.Progress = OneAtATime(o.Progress)
	p, why, err := prepare(ctx, o, test)
	if err != nil {
		return nil, err
	}
	out, err = p.whole(ctx, why, test)
	if err != nil || out.unstarted == nil {
		return out, err
	}
	if again, made, err := earlierDependencies(ctx, o, test, out.unstarted); made || err != nil {
		return again, err
	}
	return out, nil
}

// whole makes a probe that is prepared, and removes what was fetched for it.
func (p *probe) whole(ctx context.Context, why string, test Seams) (out *Outcome, err error) {
	o := p.opts
	defer func() { _ = p.remove() }()
	redactor := p.plan.Redactor
	defer func() { err = withoutValues(redactor, err) }()
	tell := o.Progress
	p.opts.Progress = func(line string) {
		if count := p.count.String(); count != "" {
			line += "; " + count
		}
		tell(redactor.Redact(line))
	}
	p.runner.Progress = p.opts.Progress
	if err := p.readEarlier(redactor.Redact(p.slug())); err != nil {
		return nil, err
	}
	if p.dir, p.name, err = openOut(o.Out, redactor.Redact(p.slug())); err != nil {
		return nil, err
	}
	defer p.dir.Close()
	p.out = session.Output{Root: p.dir, Redactor: redactor}
	if err := experiment.Clear(p.dir); err != nil {
		return nil, run.Unwritable(err)
	}
	if err := p.helpers.moveTo(p.dir); err != nil {
		return nil, run.Unwritable(err)
	}
	p.hide(o.Out)
	if err := p.build(ctx); err != nil {
		return nil, err
	}
	if err := p.reveal(ctx); err != nil {
		return nil, err
	}
	if err := p.keepContent(ctx); err != nil {
		return nil, err
	}
	audited, code := p.startAudit(ctx), p.startCode(ctx, test.Cover)
	p.learnInterpreter(ctx)
	seen, runErr := p.declared(ctx)
	if err := p.keepInputs(audited()); runErr != nil || err != nil {
		return nil, errors.Join(runErr, err)
	}
	if err := p.judgeTexts(ctx); err != nil {
		return nil, err
	}
	res, err := p.judge(ctx, seen, code(), test)
	if err != nil {
		return nil, err
	}
	return &Outcome{
		Result: res, Dir: p.name, Backend: p.runner.Backend.Name(), Why: why, Redactor: redactor,
		replayed: o.Replay != nil && seen.Played > 0, unstarted: unstarted(&o, p.fetched, &seen, res),
	}, nil
}

// DryRun is what Run would do up to the start of a sandbox: the plan of the first run, with
// all of this machine that it would show, and why that sandbox was chosen. A package is
// fetched for it and not built. Nothing is written below Out.
func DryRun(ctx context.Context, o plan.Options) (plan.Plan, string, error) {
	o.Fill()
	p, why, err := prepare(ctx, o, Seams{})
	if err != nil {
		return plan.Plan{}, "", err
	}
	defer func() { _ = p.remove() }()
	err = p.reveal(ctx)
	return p.plan, why, err
}

// ContentOf is what Run would start, by its content. A package is fetched for it and not built,
// and nothing is written below Out.
func ContentOf(ctx context.Context, o plan.Options) (*plan.Content, error) {
	o.Fill()
	p, _, err := prepare(ctx, o, Seams{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.remove() }()
	p.hide(o.Out)
	if err := p.reveal(ctx); err != nil {
		return nil, err
	}
	id := plan.ContentOf(ctx, &p.opts, p.fetched, &p.plan)
	return &id, ctx.Err()
}

// keepContent keeps what is run, for those who take its verdict for another run's.
func (p *probe) keepContent(ctx context.Context) error {
	data, err := json.MarshalIndent(plan.ContentOf(ctx, &p.opts, p.fetched, &p.plan), "", "  ")
	if err != nil {
		return err
	}
	if err := p.out.WriteBytes(plan.ContentFile, append(data, '\n')); err != nil {
		return run.Unwritable(err)
	}
	return ctx.Err()
}

// reveal finds out what the plan shows of this machine.
func (p *probe) reveal(ctx context.Context) error {
	p.opts.Progress("looking at what is shown to the server")
	var err error
	if p.plan, err = p.plan.Revealed(ctx); err != nil {
		return err
	}
	if p.fetched.Unmade() {
		return nil // unknown command to look for
	}
	list, err := p.runner.Shows(ctx, p.plan)
	p.plan = p.plan.Showing(list)
	return err
}

// prepare settles all that can be settled before a sandbox starts: a package is
// fetched by then.
func prepare(ctx context.Context, o plan.Options, test Seams) (*probe, string, error) {
	if o.Package != nil && o.Package.Kind == install.KindOCI {
		if o.Sandbox != "auto" && o.Sandbox != "docker" {
			return nil, "", &sandbox.UsageError{Err: fmt.Errorf("an image cannot run in the %s sandbox", o.Sandbox), Hint: "use --sandbox docker"}
		}
		o.Sandbox, o.Image = "docker", o.Package.Name
	}
	if o.Package == nil && len(o.Command) == 0 {
		_, err := plan.New(o, nil, plan.Account{})
		return nil, "", err
	}
	at, err := selectPlace(ctx, &o)
	if err != nil {
		return nil, "", err
	}
	o.Tracer = at.tracer
	p := &probe{opts: o, runner: run.Runner{Backend: at.backend, Progress: o.Progress, Driver: test.Driver}, jobs: experiment.NewJobs(jobs(ctx, at.backend, &o))}
	if o.Package != nil {
		if p.fetched, err = fetch(ctx, at.backend, &o, &p.helpers); err != nil {
			return nil, "", errors.Join(err, p.helpers.remove())
		}
	}
	if p.plan, err = p.newPlan(o, plan.Account{}); err != nil {
		return nil, "", errors.Join(err, p.remove())
	}
	p.plan = p.plan.In(at.backend.Name()).WithRing(test.Ring)
	return p, at.why, nil
}

// remove removes what was fetched for this probe alone.
func (p *probe) remove() error { return errors.Join(p.fetched.Remove(), p.helpers.remove()) }

// newPlan makes the plan of the first run, from a copy of the server's directory where the
// backend can show that in no other way.
func (p *probe) newPlan(o plan.Options, as plan.Account) (plan.Plan, error) {
	q, err := plan.New(o, p.fetched, as)
	if err != nil {
		return q, err
	}
	b, ok := p.runner.Backend.(interface{ Mounted(dir string) bool })
	if ok && p.fetched == nil && q.Server.ServerDir != "" && b.Mounted(q.Server.ServerDir) {
		q = q.Copied()
	}
	return q, nil
}

// OneAtATime lets many goroutines tell their progress.
func OneAtATime(tell func(string)) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		tell(line)
	}
}

// slug names the target's directory: a replay leaves the files alone of the run
// that it repeats.
func (p *probe) slug() string {
	if p.opts.Replay != nil {
		return p.plan.Target + " replay"
	}
	return p.plan.Target
}

// scheduler makes the runs of the target's experiments.
func (p *probe) scheduler() *experiment.Scheduler {
	return &experiment.Scheduler{Runner: p.runner, Dir: p.dir, Jobs: p.jobs, Count: &p.count}
}

// judge has the further runs made, judges all of them and writes the reports.
func (p *probe) judge(ctx context.Context, seen run.Observations, code *ownCode, test Seams) (*analyze.Result, error) {
	dir, err := analyze.OpenDirectory(p.dir, p.opts.Version)
	if err != nil {
		return nil, err
	}
	scheduler := p.scheduler()
	scheduler.Differs = dir.Differs
	if seen.Introduced {
		p.plan = p.plan.Introduced()
	}
	c := experiment.Case{Plan: p.plan, Seen: seen, Vary: p.opts.Vary, Renew: p.renew, Test: test.Further}
	// A test's driver makes the calls of one run.
	if p.opts.Replay == nil && !p.fetched.Unmade() && test.Driver == nil {
		if c.Questions, err = dir.Questions(); err != nil {
			return nil, err
		}
	}
	defer p.lookEarly()()
	further := p.startFurther(ctx, scheduler, c, code)
	res, err := p.compare(ctx, scheduler, c, dir)
	furtherErr := further()
	if err := errors.Join(err, furtherErr); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	p.runs = append(p.runs, p.helpers.list()...)
	slices.SortStableFunc(p.runs, func(a, b session.IndexedRun) int {
		return slices.Index(session.Roles, a.Role) - slices.Index(session.Roles, b.Role)
	})
	if err := p.out.WriteIndex(p.runs); err != nil {
		return nil, run.Unwritable(err)
	}
	// The files are judged, and not what was written: they are without passed values.
	index, err := session.ReadIndex(p.dir)
	if err != nil {
		return nil, err
	}
	if err := dir.Complete(res, index.Runs); err != nil {
		return nil, err
	}
	if err := report.Write(p.out, res, dir.Inputs); err != nil {
		return nil, run.Unwritable(err)
	}
	return res, nil
}

// startFurther makes the starts that the declared run gave reason for, beside all
// else. The function that it returns waits for them.
func (p *probe) startFurther(ctx context.Context, scheduler *experiment.Scheduler, c experiment.Case, code *ownCode) func() error {
	if p.opts.Replay != nil || p.fetched.Unmade() {
		return func() error { return nil }
	}
	done := make(chan error, 2)
	var runs []session.IndexedRun
	go func() {
		var err error
		runs, err = scheduler.Further(ctx, c)
		done <- err
	}()
	go func() { done <- p.cover(ctx, scheduler, c, code) }()
	return func() error {
		err := errors.Join(<-done, <-done)
		p.runs = append(append(p.runs, runs...), p.covered...)
		return err
	}
}

// compare makes the runs that the declared one is compared with, judges them, and
// makes the findings small.
func (p *probe) compare(ctx context.Context, scheduler *experiment.Scheduler, c experiment.Case, dir *analyze.Directory) (*analyze.Result, error) {
	if p.opts.Replay == nil && !p.fetched.Unmade() {
		runs, err := scheduler.Compare(ctx, c)
		if err != nil {
			return nil, err
		}
		p.runs = append(p.runs, runs...)
	}
	res, err := dir.First(p.runs)
	if err != nil || p.opts.Replay != nil {
		return res, err
	}
	p.tellFound(res)
	s := &shrink.Shrinker{Runner: scheduler.Runner, Dir: p.dir, Jobs: p.jobs, Plan: p.plan, Steps: c.Seen.Steps}
	shrunk, err := s.Minimize(ctx, res)
	if err == nil {
		err = analyze.WriteShrunk(p.out, shrunk)
	}
	if err != nil {
		err = run.Unwritable(err)
	}
	return res, err
}

// renew makes the declared plan again with decoys for another account.
func (p *probe) renew(as plan.Account) (plan.Plan, error) {
	o := p.opts
	o.Vary, o.Replay = nil, nil
	q, err := p.newPlan(o, as)
	return q.ShowingAs(p.plan), err
}

// keepInputs keeps what the judgement depends on beside what is seen.
func (p *probe) keepInputs(audited *audit.Report, auditErr error) error {
	in := p.inputs(plan.Location(p.opts.Location, p.fetched, p.plan))
	in.AuditRoot, in.Shown = plan.Relative(p.plan.Server.Source), p.plan.Shown
	if auditErr != nil {
		in.AuditError = auditErr.Error()
	}
	return p.writeInputs(in, audited)
}

// inputs are what the options say of the judgement.
func (p *probe) inputs(at finding.Location) analyze.Inputs {
	in := analyze.Inputs{
		FailOn: p.opts.FailOn, PolicyRules: p.opts.PolicyRules, Rules: p.opts.Rules, Changed: p.opts.Changed, Least: p.opts.Least, Out: p.name, Location: at, Earlier: p.earlier,
	}
	if o := p.opts.Policy; o != nil {
		in.Policy = &analyze.File{Name: o.File, Text: string(o.Source)}
	}
	if b := p.opts.Baseline; b != nil {
		in.Baseline = &analyze.File{Name: b.File, Text: string(b.Source)}
	}
	return in
}

func (p *probe) writeInputs(in analyze.Inputs, audited *audit.Report) error {
	if err := analyze.WriteInputs(p.out, in, audited); err != nil {
		return run.Unwritable(err)
	}
	return nil
}

// judgeTexts has the user's own program judge what the server said in the declared run,
// and keeps what it said.
func (p *probe) judgeTexts(ctx context.Context) error {
	if len(p.opts.TextJudge) == 0 {
		return nil
	}
	p.opts.Progress("asking the text judge")
	said, left, err := analyze.ReadTexts(p.dir)
	if err != nil {
		return err
	}
	judged, err := textjudge.Ask(ctx, p.opts.TextJudge, said)
	if err != nil {
		return err
	}
	judged.Left = left
	if err := analyze.WriteTexts(p.out, judged); err != nil {
		return run.Unwritable(err)
	}
	return nil
}

// startAudit audits the server's source beside the run. The function that it
// returns waits for the report.
func (p *probe) startAudit(ctx context.Context) func() (*audit.Report, error) {
	if in := p.fetched; in != nil && in.Unread != nil {
		return func() (*audit.Report, error) { return nil, in.Unread }
	}
	source := p.plan.Server.Source
	if source == "" || p.opts.Unaudited {
		return func() (*audit.Report, error) { return nil, nil }
	}
	type answer struct {
		report *audit.Report
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := p.audit(ctx)
		done <- answer{r, err}
	}()
	return func() (*audit.Report, error) {
		a := <-done
		return a.report, a.err
	}
}

// audit reads the server's source.
func (p *probe) audit(ctx context.Context) (*audit.Report, error) {
	dir, err := p.plan.Server.OpenSource()
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	defer func() { _ = dir.Close() }()
	return audit.Tree(ctx, dir.FS(), plan.Relative(p.plan.Server.Source), audit.Options{Skip: p.unaudited(), Sites: true})
}
