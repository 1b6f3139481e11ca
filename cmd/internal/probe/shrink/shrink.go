package shrink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// The bounds of what goes into making findings small.
const (
	maxShrunk = 8
	// Confirmations are the fresh starts in which a replay must show its finding again.
	Confirmations = 2
)

// Shrinker makes the findings of a run small and replayable.
type Shrinker struct {
	Runner run.Runner
	// Dir is the target's directory.
	Dir  *os.Root
	Jobs experiment.Jobs
	// Plan is the declared run's, and Steps all of its calls, in order.
	Plan  plan.Plan
	Steps []synth.Step
}

// small is a finding on the way to its smallest calls.
type small struct {
	f    *finding.Finding
	n    int // of its replay
	best []synth.Step
	// shown says that best showed the finding again, minimal that nothing of it can
	// be left out.
	shown, minimal bool
	// Of tried fresh starts again showed it.
	tried, again int
	live         live
}

// Minimize writes the replays of the findings that a call shows, worst first, and
// returns how far each came. Its time is the plan's.
func (s *Shrinker) Minimize(ctx context.Context, res *analyze.Result) ([]analyze.Shrunk, error) {
	if err := s.forget(); err != nil {
		return nil, err
	}
	defer func() { _ = s.Dir.RemoveAll(experiment.Trial.Dir) }()
	list := s.worthwhile(res)
	if len(list) == 0 {
		return nil, nil
	}
	s.Runner.Progress(fmt.Sprintf("making %d findings small", len(list)))
	bounded, cancel := context.WithTimeout(ctx, s.Plan.Budget.ShrinkTime)
	defer cancel()
	s.alone(bounded, list)
	s.confirmTogether(ctx, list)
	var out []analyze.Shrunk
	for _, m := range list {
		if m.again < Confirmations {
			s.apart(bounded, m)
		}
		if m.tried == 0 {
			continue
		}
		shrunk, err := s.keep(ctx, m)
		if err != nil {
			return nil, err
		}
		out = append(out, shrunk)
	}
	return out, nil
}

// worthwhile are the findings that are worth the time.
func (s *Shrinker) worthwhile(res *analyze.Result) []*small {
	var list []*small
	for i := range res.Findings {
		f := &res.Findings[i]
		// What the user's own rules find is theirs to make small.
		rule, ours := rules.Of(f.Rule)
		if ours && rule.Shrink != rules.ShrinkNever && f.Call >= 1 && f.Call <= len(s.Steps) && f.Severity.Rank() >= finding.Medium.Rank() && len(list) < maxShrunk {
			list = append(list, &small{f: f, n: len(list) + 1, best: s.last(f)})
		}
	}
	return list
}

// apart makes small and confirms what did not show in a running sandbox, or did
// not show each time where others were played beside it.
func (s *Shrinker) apart(ctx context.Context, m *small) {
	steps, minimal := m.best, m.minimal
	if m.shown {
		// The others may have been in its way.
		s.confirm(ctx, m)
	}
	if m.again > 0 || ctx.Err() != nil && m.shown {
		return
	}
	m.best, m.minimal, m.shown = s.sequence(ctx, m.f)
	if !m.shown {
		if ctx.Err() != nil {
			return
		}
		m.best, m.minimal = steps, minimal
	}
	s.confirm(ctx, m)
}

// confirm plays the smallest calls in fresh sandboxes. It outlives the budget: it
// takes a few seconds, and says what all the rest is worth.
func (s *Shrinker) confirm(ctx context.Context, m *small) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	m.tried, m.again = 0, 0
	for range Confirmations {
		again, err := s.fresh(bounded, m.f, m.best)
		if err != nil {
			return
		}
		m.tried++
		if again {
			m.again++
		}
	}
}

// keep writes a finding's replay.
func (s *Shrinker) keep(ctx context.Context, m *small) (analyze.Shrunk, error) {
	r := &synth.Replay{Rule: m.f.Rule, Tool: m.f.Tool, Fingerprint: m.f.Fingerprint, User: s.Plan.Identity.User, Home: s.Plan.Identity.Home,
		Steps: m.best, Minimal: m.minimal, Shown: m.again, Tried: m.tried}
	name := replayName(m.n)
	data, err := r.Encode()
	if err == nil {
		// Arguments may be drawn from what the server answered.
		data, err = s.Plan.WithoutDecoys(data)
	}
	if err == nil {
		err = session.Output{Root: s.Dir, Redactor: s.Plan.Redactor}.WriteBytes(name, data)
	}
	return analyze.Shrunk{Fingerprint: m.f.Fingerprint, Replay: name, Shown: m.again, Tried: m.tried, Without: s.without(ctx, m)}, err
}

func replayName(n int) string { return fmt.Sprintf("replay-%d.json", n) }

// without is another tool after whose calls the finding comes without its own call,
// "" for none: it may be that tool's work.
func (s *Shrinker) without(ctx context.Context, m *small) string {
	if m.again == 0 || m.f.Tool == "" || m.f.Confidence == finding.Ambiguous {
		return ""
	}
	before := m.best[:len(m.best)-1]
	other := slices.IndexFunc(before, func(step synth.Step) bool { return step.Name != m.f.Tool })
	if other < 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	res, err := s.played(ctx, slices.Concat(before, before))
	if err == nil && slices.ContainsFunc(res.Findings, func(g finding.Finding) bool { return sameEffect(m.f, &g) }) {
		return before[other].Name
	}
	return ""
}

// sameEffect says that two findings are of the same effect, whosever work it is.
func sameEffect(f, g *finding.Finding) bool {
	return f.Rule == g.Rule && len(f.Evidence) > 0 && len(g.Evidence) > 0 && f.Evidence[0].About != "" && f.Evidence[0].About == g.Evidence[0].About
}

// forget removes the replays of an earlier run.
func (s *Shrinker) forget() error {
	for n := 1; n <= maxShrunk; n++ {
		if err := s.Dir.Remove(replayName(n)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove an earlier replay: %w", err)
		}
	}
	return nil
}

// last are the calls without which the finding's own means nothing.
func (s *Shrinker) last(f *finding.Finding) []synth.Step {
	call := s.Steps[f.Call-1]
	if rule, _ := rules.Of(f.Rule); rule.NeedsControl {
		for _, step := range s.Steps {
			if slices.ContainsFunc(step.Oracles, func(in session.Injection) bool { return in.Oracle == session.OracleControl }) {
				return []synth.Step{step, call}
			}
		}
	}
	return []synth.Step{call}
}

// sequence finds a shorter sequence of the run's calls, each tried in a fresh sandbox.
func (s *Shrinker) sequence(ctx context.Context, f *finding.Finding) (best []synth.Step, minimal, shown bool) {
	best = s.last(f)
	var same, plain []synth.Step
	before := s.Steps[:f.Call]
	for _, step := range before {
		if step.Name == f.Tool {
			same = append(same, step)
		}
		if len(step.Oracles) == 0 {
			plain = append(plain, step)
		}
	}
	for _, steps := range [][]synth.Step{best, same, append(plain, best...), before} {
		again, err := s.fresh(ctx, f, steps)
		if err != nil {
			return best, false, false
		}
		if !again {
			continue
		}
		best, err = synth.Shrink(ctx, steps, nil, func(steps []synth.Step) (bool, error) { return s.fresh(ctx, f, steps) })
		return best, err == nil, true
	}
	return best, false, false
}

// fresh plays a sequence in a sandbox of its own and says whether it shows a finding.
func (s *Shrinker) fresh(ctx context.Context, f *finding.Finding, steps []synth.Step) (shown bool, err error) {
	res, err := s.played(ctx, steps)
	return err == nil && res.Shows(f.Fingerprint), err
}

// played is what a sequence shows in a sandbox of its own.
func (s *Shrinker) played(ctx context.Context, steps []synth.Step) (*analyze.Result, error) {
	dir, err := s.trial(ctx, func(ctx context.Context, c *run.Session, _ *os.Root) error {
		player, err := c.Player(ctx, false)
		if err != nil {
			return err
		}
		_, _, err = player.Play(steps)
		if errors.Is(err, synth.ErrCrash) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return analyze.JudgeRun(dir, analyze.Options{})
}

// trial starts the server in a fresh sandbox with the same surroundings and lets
// work have the session. It returns the directory with the log, also beside an error
// of work's; the caller closes it.
func (s *Shrinker) trial(ctx context.Context, work func(context.Context, *run.Session, *os.Root) error) (*os.Root, error) {
	r := s.Runner
	r.Progress = func(string) {}
	var dir *os.Root
	var workErr error
	r.Driver = func(ctx context.Context, c *run.Session) error {
		if dir, workErr = s.Dir.OpenRoot(experiment.Trial.Dir); workErr == nil {
			workErr = work(ctx, c, dir)
		}
		return nil
	}
	one := &experiment.Scheduler{Runner: r, Dir: s.Dir, Jobs: s.Jobs}
	_, _, err := one.Make(ctx, &experiment.Trial, &experiment.Case{Plan: s.Plan}, experiment.Trial.Dir)
	if dir == nil { // the server did not come so far
		var openErr error
		if dir, openErr = s.Dir.OpenRoot(experiment.Trial.Dir); openErr != nil {
			return nil, errors.Join(err, workErr, openErr)
		}
	}
	return dir, errors.Join(err, workErr)
}

// valid says which calls' arguments satisfy their tool's schema.
func (s *Shrinker) valid(c *run.Session) func(synth.Step) bool {
	generators := map[string]*schema.Generator{}
	for _, t := range c.Surface().Tools {
		if g, err := schema.New(t.InputSchema, schema.Options{Object: true}); err == nil {
			generators[t.Name] = g
		}
	}
	return func(step synth.Step) bool {
		g := generators[step.Name]
		return g == nil || g.Check(step.Args) == nil
	}
}
