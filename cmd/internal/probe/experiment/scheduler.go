package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Scheduler makes experiments' runs below the directory of a target, several side by side.
type Scheduler struct {
	Runner run.Runner
	Dir    *os.Root
	// Jobs has room for as many runs as may be alive at once. It is shared with
	// whoever else makes runs for the same target.
	Jobs Jobs
	// Differs reports whether a condition makes a difference by the logs of some runs:
	// those of the condition, and the controls.
	Differs func(runs []session.IndexedRun) (bool, error)
	// Count counts the runs, nil for nobody who asks.
	Count *Count
}

// Jobs bounds the runs that are alive at once.
type Jobs chan struct{}

// NewJobs has room for n runs.
func NewJobs(n int) Jobs { return make(Jobs, max(n, 1)) }

// Acquire waits for room; the function that it returns gives it back. Its error is ctx's.
func (j Jobs) Acquire(ctx context.Context) (release func(), err error) {
	select {
	case j <- struct{}{}:
		return func() { <-j }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Made are the runs of one experiment.
type Made struct {
	Runs []session.IndexedRun
	Seen []run.Observations
	err  error
}

// Last is what the latest run learned, the zero value for none.
func (m Made) Last() run.Observations {
	if len(m.Seen) == 0 {
		return run.Observations{}
	}
	return m.Seen[len(m.Seen)-1]
}

// Compare makes the runs that the judge compares with the declared one: under the
// other tracer, and under each condition of --vary. A run that cannot be made is an error.
func (s *Scheduler) Compare(ctx context.Context, c Case) ([]session.IndexedRun, error) {
	var once, varied []Experiment
	for _, e := range at(StageCompare) {
		if e.Role == session.RoleVaried {
			varied = append(varied, e)
		} else {
			once = append(once, e)
		}
	}
	var made []Made
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { made, err = s.sideBySide(ctx, once, &c) })
	more, variedErr := s.vary(ctx, c, varied)
	wg.Wait()
	if err := errors.Join(err, variedErr); err != nil {
		return nil, err
	}
	return append(runsOf(made), more...), nil
}

// Further makes the starts that the declared run gave reason for. One that cannot be
// made is listed with the reason: it takes nothing from what was seen.
func (s *Scheduler) Further(ctx context.Context, c Case) ([]session.IndexedRun, error) {
	var runs []session.IndexedRun
	for _, stage := range []Stage{StageFurther, StageAfter} {
		made, err := s.sideBySide(ctx, at(stage), &c)
		if err != nil {
			return nil, err
		}
		runs = append(runs, runsOf(made)...)
	}
	return runs, nil
}

// Code makes the runs that tell which of the server's own code runs, and what that does: by the
// names of their experiments.
func (s *Scheduler) Code(ctx context.Context, c *Case) (map[string]Made, error) {
	out := map[string]Made{}
	for _, stage := range []Stage{StageCode, StageReached} {
		list := at(stage)
		made, err := s.sideBySide(ctx, list, c)
		if err != nil {
			return nil, err
		}
		for i, m := range made {
			out[list[i].Name] = m
		}
	}
	return out, nil
}

// sideBySide makes the runs of several experiments, in their order. The first that fails is the error.
func (s *Scheduler) sideBySide(ctx context.Context, list []Experiment, c *Case) ([]Made, error) {
	made := make([]Made, len(list))
	var wg sync.WaitGroup
	for i, e := range list {
		wg.Go(func() { made[i] = s.each(ctx, e, *c) })
	}
	wg.Wait()
	for i, m := range made {
		if m.err != nil {
			return nil, m.err
		}
		list[i].learn(c, m)
	}
	return made, nil
}

// runsOf are the runs of several experiments.
func runsOf(made []Made) (runs []session.IndexedRun) {
	for _, m := range made {
		runs = append(runs, m.Runs...)
	}
	return runs
}

func (e *Experiment) learn(c *Case, m Made) {
	if e.Learn != nil {
		e.Learn(c, m.Seen)
	}
}

// each makes an experiment's runs, one after another, as long as there is reason for more.
func (s *Scheduler) each(ctx context.Context, e Experiment, c Case) Made {
	var out Made
	for n := 1; n <= max(e.Rounds, 1); n++ {
		if e.When != nil && !e.When(&c) {
			return out
		}
		dir := e.Dir
		if e.Rounds > 0 {
			dir = fmt.Sprintf("%s-%d", e.Dir, n)
		}
		indexed, seen, err := s.Make(ctx, &e, &c, dir)
		if ctx.Err() != nil {
			return Made{err: context.Cause(ctx)}
		}
		if err != nil && e.Lost == "" {
			return Made{err: err}
		}
		if err != nil {
			indexed.Failed = e.Lost + " could not be made: " + err.Error()
			out.Runs = append(out.Runs, indexed)
			return out
		}
		out.Runs, out.Seen = append(out.Runs, indexed), append(out.Seen, seen)
		c.Rounds = append(c.Rounds[:len(c.Rounds):len(c.Rounds)], seen)
	}
	return out
}

// Make makes one run of an experiment: it draws the run's id and makes its directory, "." for the
// target's own, in which the runner writes the plan and the log. It returns the run's entry for the
// index, also beside an error, and what was learned.
func (s *Scheduler) Make(ctx context.Context, e *Experiment, c *Case, dir string) (session.IndexedRun, run.Observations, error) {
	indexed := e.Indexed(c, dir)
	defer s.Count.begin()()
	release, err := s.Jobs.Acquire(ctx)
	if err != nil {
		return indexed, run.Observations{}, err
	}
	defer release()
	p, err := e.Of(c)
	if err != nil {
		return indexed, run.Observations{}, err
	}
	if e.Progress != nil {
		s.Runner.Progress(e.Progress(c))
	}
	quiet := s.Runner
	if e.Role == session.RoleVaried {
		quiet.Progress = func(string) {}
	}
	quiet.AllRan = c.AllRan
	sub, err := directory(s.Dir, dir)
	if err != nil {
		return indexed, run.Observations{}, err
	}
	defer func() { _ = sub.Close() }()
	seen, err := quiet.Run(ctx, p, sub)
	return indexed, seen, err
}

// Indexed is the entry of an experiment's run for the index.
func (e *Experiment) Indexed(c *Case, dir string) session.IndexedRun {
	r := session.IndexedRun{Role: e.Role, Experiment: e.Name, Dir: dir, Optional: e.Optional, Timers: e.Timers, OneTool: e.OneTool, Supplies: e.Supplies, Recorded: e.Recorded}
	if e.How != nil {
		r.How = e.How(c)
	}
	return r
}

// directory makes a run's directory anew below the target's, and opens it.
func directory(target *os.Root, dir string) (*os.Root, error) {
	fail := func(err error) error {
		return run.Unwritable(fmt.Errorf("make room for a further run's log: %w", err))
	}
	if dir == "." {
		return target.OpenRoot(dir)
	}
	if err := target.RemoveAll(dir); err != nil {
		return nil, fail(err)
	}
	if parent := path.Dir(dir); parent != "." {
		if err := target.Mkdir(parent, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fail(err)
		}
	}
	if err := target.Mkdir(dir, 0o700); err != nil {
		return nil, fail(err)
	}
	sub, err := target.OpenRoot(dir)
	if err != nil {
		return nil, fail(err)
	}
	return sub, nil
}

// outcome are the files that say how a probe ended, the index first: without it
// nothing is judged.
var outcome = []string{
	session.IndexFile, report.FileJSON, report.FileSARIF, report.FileHTML, report.FileSummary,
	analyze.InputsFile, analyze.AuditFile, analyze.ShrunkFile, analyze.TextsFile, analyze.CoverageFile, session.FramesFile, session.TraceFile, plan.FileName, plan.ContentFile,
}

// Clear removes what an earlier probe left: its result, so that a probe that is
// killed does not seem to have ended with it, and the directories of its runs.
func Clear(target *os.Root) error {
	for _, name := range outcome {
		// What is no regular file is refused where it is to be written.
		if info, err := target.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := target.Remove(name); err != nil {
			return fmt.Errorf("remove an earlier probe's %s: %w", name, err)
		}
	}
	names, err := fs.ReadDir(target.FS(), ".")
	if err != nil {
		return fmt.Errorf("list an earlier probe's files: %w", err)
	}
	ours := map[string]bool{}
	for _, e := range Table() {
		if e.Dir == "." {
			continue
		}
		ours[path.Dir(e.Dir)], ours[e.Dir] = true, true
		for n := 1; n <= e.Rounds; n++ {
			ours[fmt.Sprintf("%s-%d", e.Dir, n)] = true
		}
	}
	for _, n := range names {
		if !n.IsDir() || !ours[n.Name()] {
			continue
		}
		if err := target.RemoveAll(n.Name()); err != nil {
			return fmt.Errorf("remove an earlier probe's %s: %w", n.Name(), err)
		}
	}
	return nil
}
