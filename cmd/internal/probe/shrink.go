package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// The bounds of what goes into making findings small.
const (
	// DefaultShrinkTime is for all findings of a run together.
	DefaultShrinkTime = 30 * time.Second
	maxShrunk         = 8
	// confirmations are the fresh starts in which a replay must show its finding again.
	confirmations = 2
	// trialDir holds the log of a trial, below the run's directory.
	trialDir = "trial"
)

// shrinker makes the findings of a run small and replayable.
type shrinker struct {
	p       *plan
	backend sandbox.Backend
	dir     *os.Root
	out     string
	steps   []synth.Step // all calls of the run, in order
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

// minimize gives the findings that a call shows their replays, worst first.
func (s *shrinker) minimize(ctx context.Context, res *analyze.Result) error {
	if err := s.forget(); err != nil {
		return err
	}
	defer func() { _ = s.dir.RemoveAll(trialDir) }()
	list := s.chosen(res)
	if len(list) == 0 {
		return nil
	}
	s.p.opts.Progress(fmt.Sprintf("making %d findings small", len(list)))
	bounded, cancel := context.WithTimeout(ctx, s.p.opts.ShrinkTime)
	defer cancel()
	s.alone(bounded, list)
	s.confirmTogether(ctx, list)
	for _, m := range list {
		if m.again < confirmations {
			s.apart(bounded, m)
		}
		if err := s.keep(ctx, res, m); err != nil {
			return err
		}
	}
	return nil
}

// chosen are the findings that are worth the time.
func (s *shrinker) chosen(res *analyze.Result) []*small {
	var list []*small
	for i := range res.Findings {
		f := &res.Findings[i]
		rule, _ := rules.Of(f.Rule)
		if rule.Shrink != rules.ShrinkNever && f.Call >= 1 && f.Call <= len(s.steps) && f.Severity.Rank() >= finding.Medium.Rank() && len(list) < maxShrunk {
			list = append(list, &small{f: f, n: len(list) + 1, best: s.last(f)})
		}
	}
	return list
}

// apart makes small and confirms what did not show in a running sandbox, or did
// not show each time where others were played beside it.
func (s *shrinker) apart(ctx context.Context, m *small) {
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
func (s *shrinker) confirm(ctx context.Context, m *small) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	m.tried, m.again = 0, 0
	for range confirmations {
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

// keep writes a finding's replay and says in the finding how to play it.
func (s *shrinker) keep(ctx context.Context, res *analyze.Result, m *small) error {
	if m.tried == 0 {
		return nil
	}
	r := &synth.Replay{Rule: m.f.Rule, Tool: m.f.Tool, Fingerprint: m.f.Fingerprint, User: s.p.set.User(), Home: s.p.set.Home(),
		Steps: m.best, Minimal: m.minimal, Shown: m.again, Tried: m.tried}
	name := fmt.Sprintf("replay-%d.json", m.n)
	data, err := r.Encode()
	if err == nil {
		err = writeFile(s.dir, name, func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	if err != nil {
		return err
	}
	m.f.Reproduce = strings.Replace(res.Run.Reproduce, " -- ", " --replay "+analyze.Quote(s.out+"/"+name)+" -- ", 1)
	s.weigh(ctx, m.f, r)
	return nil
}

// weigh says how surely a finding is its call's, now that it was played again:
// what comes without that call, or never again with it, may be another's work.
func (s *shrinker) weigh(ctx context.Context, f *finding.Finding, r *synth.Replay) {
	if r.Shown < r.Tried {
		f.Message += fmt.Sprintf(" (unstable: shown again in %d of %d fresh starts)", r.Shown, r.Tried)
		if f.Confidence == finding.Certain {
			f.Confidence = finding.Probable
		}
	}
	if r.Shown == 0 {
		f.Confidence = finding.Ambiguous
		return
	}
	before := r.Steps[:len(r.Steps)-1]
	other := slices.IndexFunc(before, func(step synth.Step) bool { return step.Name != f.Tool })
	if f.Tool == "" || other < 0 || f.Confidence == finding.Ambiguous {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	res, err := s.played(ctx, slices.Concat(before, before))
	if err == nil && slices.ContainsFunc(res.Findings, func(g finding.Finding) bool { return sameDeed(f, &g) }) {
		f.Message += fmt.Sprintf(" (it comes without this call, after %s: it may be that tool's work)", before[other].Name)
		f.Confidence = finding.Ambiguous
	}
}

// sameDeed says that two findings are of the same observation, whosever work it is.
func sameDeed(f, g *finding.Finding) bool {
	return f.Rule == g.Rule && len(f.Evidence) > 0 && len(g.Evidence) > 0 && f.Evidence[0].Text == g.Evidence[0].Text
}

// forget removes the replays of an earlier run.
func (s *shrinker) forget() error {
	for n := 1; n <= maxShrunk; n++ {
		if err := s.dir.Remove(fmt.Sprintf("replay-%d.json", n)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove an earlier replay: %w", err)
		}
	}
	return nil
}

// last are the calls without which the finding's own means nothing.
func (s *shrinker) last(f *finding.Finding) []synth.Step {
	call := s.steps[f.Call-1]
	if rule, _ := rules.Of(f.Rule); rule.NeedsControl {
		for _, step := range s.steps {
			if slices.ContainsFunc(step.Oracles, func(in session.Injection) bool { return in.Oracle == session.OracleControl }) {
				return []synth.Step{step, call}
			}
		}
	}
	return []synth.Step{call}
}

// sequence finds a shorter sequence of the run's calls, each tried in a fresh sandbox.
func (s *shrinker) sequence(ctx context.Context, f *finding.Finding) (best []synth.Step, minimal, shown bool) {
	best = s.last(f)
	var same, plain []synth.Step
	before := s.steps[:f.Call]
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
func (s *shrinker) fresh(ctx context.Context, f *finding.Finding, steps []synth.Step) (shown bool, err error) {
	res, err := s.played(ctx, steps)
	return err == nil && res.Shows(f.Fingerprint), err
}

// played is what a sequence shows in a sandbox of its own.
func (s *shrinker) played(ctx context.Context, steps []synth.Step) (*analyze.Result, error) {
	err := s.trial(ctx, func(ctx context.Context, c *conversation) error {
		player, err := s.p.player(ctx, c, false)
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
	dir, err := s.dir.OpenRoot(trialDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return judge(dir, analyze.Options{})
}

// trial starts the server in a fresh sandbox with the same surroundings and
// lets work have the session.
func (s *shrinker) trial(ctx context.Context, work func(context.Context, *conversation) error) error {
	if err := s.dir.RemoveAll(trialDir); err != nil {
		return fmt.Errorf("remove an earlier trial: %w", err)
	}
	dir, err := openBelow(s.dir, trialDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	id, err := newRunID()
	if err != nil {
		return err
	}
	q := *s.p
	q.spec.RunID = id
	q.opts.Progress = func(string) {}
	var workErr error
	q.work = func(ctx context.Context, c *conversation) error {
		workErr = work(ctx, c)
		return nil
	}
	return errors.Join(q.session(ctx, s.backend, dir), workErr)
}

// valid says which calls' arguments satisfy their tool's schema.
func (s *shrinker) valid(c *conversation) func(synth.Step) bool {
	generators := map[string]*schema.Generator{}
	for _, t := range c.surface.Tools {
		if g, err := schema.New(t.InputSchema, schema.Options{Object: true}); err == nil {
			generators[t.Name] = g
		}
	}
	return func(step synth.Step) bool {
		g := generators[step.Name]
		return g == nil || g.Check(step.Args) == nil
	}
}
