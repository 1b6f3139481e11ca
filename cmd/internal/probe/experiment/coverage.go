package experiment

import (
	"context"
	"slices"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/recorder"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// coverage makes the calls of the declared run again while the server's own processes record
// which of its code runs. The server can see that, so the declared run goes without.
var coverage = Experiment{
	Name: "coverage", Role: session.RoleCoverage, Dir: "coverage", Optional: true,
	Proves: "which of the server's own code ran",
	When:   func(c *Case) bool { return c.OwnCode != "" && c.Plan.Watched() },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		p.Drive.Kind, p.Drive.Steps, p.Drive.Quick = plan.DrivePlay, slices.Clone(c.Seen.Steps), true
		return recorded(p, c.OwnCode), nil
	},
	Progress: always("once more, recording which code runs"),
	How:      always("while its own code was recorded"),
	Lost:     "the run that records which code runs",
}

// recorded is a plan whose server's processes record which code of a directory runs.
func recorded(p plan.Plan, code string) plan.Plan {
	dir := p.Identity.Home + "/" + session.HelperDirs[0]
	p.Drive.Record = recorder.Out(dir)
	p.Files = slices.Concat(p.Files, recorder.Files(dir, code))
	env := recorder.Env(dir, func(name string) string { return valueOf(p.Env, name) })
	for _, name := range []string{"NODE_OPTIONS", "PYTHONPATH"} {
		p = p.With(plan.Variable{Name: name, Value: env[name]})
	}
	return p
}

// valueOf is the value of a variable, "" for none.
func valueOf(env []plan.Variable, name string) string {
	for _, v := range env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// Coverage makes the run that records which code runs, where there is reason for it.
func (s *Scheduler) Coverage(ctx context.Context, c Case) ([]session.IndexedRun, run.Observations, error) {
	return s.once(ctx, coverage, c)
}

// Alone makes the run in which the server is left alone.
func (s *Scheduler) Alone(ctx context.Context, c Case) ([]session.IndexedRun, run.Observations, error) {
	return s.once(ctx, alone, c)
}

// once makes the one run of an experiment, where there is reason for it.
func (s *Scheduler) once(ctx context.Context, e Experiment, c Case) ([]session.IndexedRun, run.Observations, error) {
	made := s.each(ctx, e, c)
	seen := run.Observations{}
	if len(made.seen) > 0 {
		seen = made.seen[0]
	}
	return made.runs, seen, made.err
}
