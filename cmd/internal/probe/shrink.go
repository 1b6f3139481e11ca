package probe

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
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
	// liveTrials is how many sequences one sandbox plays: its log is judged after each.
	liveTrials = 150
	// trialDir holds the log of a trial, below the run's directory.
	trialDir = "trial"
)

// errRenew says that a sandbox has played enough.
var errRenew = errors.New("a fresh sandbox is due")

// shrinker makes the findings of a run small and replayable.
type shrinker struct {
	p       *plan
	backend sandbox.Backend
	dir     *os.Root
	out     string
	steps   []synth.Step // all calls of the run, in order
}

// minimize gives the findings that a call shows their replays, worst first.
func (s *shrinker) minimize(ctx context.Context, res *analyze.Result) error {
	ctx, cancel := context.WithTimeout(ctx, s.p.opts.ShrinkTime)
	defer cancel()
	if err := s.forget(); err != nil {
		return err
	}
	defer func() { _ = s.dir.RemoveAll(trialDir) }()
	n := 0
	for i := range res.Findings {
		f := &res.Findings[i]
		// What two runs differ in no single one can show.
		if f.Rule == "CM210" || f.Call < 1 || f.Call > len(s.steps) || f.Severity.Rank() < finding.Medium.Rank() || n >= maxShrunk || ctx.Err() != nil {
			continue
		}
		n++
		s.p.opts.Progress(fmt.Sprintf("making finding %d small", n))
		r := s.reduce(ctx, f)
		if r == nil {
			continue
		}
		name := fmt.Sprintf("replay-%d.json", n)
		data, err := r.Encode()
		if err == nil {
			err = writeFile(s.dir, name, func(w io.Writer) error { _, err := w.Write(data); return err })
		}
		if err != nil {
			return err
		}
		f.Reproduce = strings.Replace(res.Run.Reproduce, " -- ", " --replay "+analyze.Quote(s.out+"/"+name)+" -- ", 1)
		s.weigh(ctx, f, r)
	}
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

// reduce finds the smallest sequence that shows a finding, and confirms it; nil
// where the time did not suffice to see it again at all.
func (s *shrinker) reduce(ctx context.Context, f *finding.Finding) *synth.Replay {
	best, minimal, shown := s.alone(ctx, f)
	if !shown {
		best, minimal, shown = s.sequence(ctx, f)
	}
	r := &synth.Replay{Rule: f.Rule, Tool: f.Tool, Fingerprint: f.Fingerprint, User: s.p.set.User(), Home: s.p.set.Home(), Steps: best, Minimal: minimal}
	if !shown && ctx.Err() != nil {
		return nil
	}
	// Confirming outlives the budget: it is a few seconds, and says what all the rest is worth.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	for range confirmations {
		again, err := s.fresh(bounded, f, best)
		if err != nil {
			break
		}
		r.Tried++
		if again {
			r.Shown++
		}
	}
	if r.Tried == 0 {
		return nil
	}
	return r
}

// alone makes the one call small that showed the finding, in a running sandbox.
func (s *shrinker) alone(ctx context.Context, f *finding.Finding) (best []synth.Step, minimal, shown bool) {
	best = s.last(f)
	quick := !slices.Contains([]string{"CM307", "CM501"}, f.Rule)
	if !quick {
		return best, false, false // what a listing says can not be told apart by calls
	}
	for ctx.Err() == nil {
		err := s.trial(ctx, func(ctx context.Context, c *conversation) error {
			player, err := s.p.player(ctx, c, quick)
			if err != nil {
				return err
			}
			left := liveTrials
			shows := func(steps []synth.Step) (bool, error) {
				if left--; left < 0 {
					return false, errRenew
				}
				first, last, err := player.Play(steps)
				if err != nil {
					return false, err
				}
				return s.shownBetween(c.rec.dir, f, first, last)
			}
			if !shown {
				if shown, err = shows(best); err != nil || !shown {
					return err
				}
			}
			best, err = synth.Shrink(ctx, best, s.valid(c), shows)
			return err
		})
		if !errors.Is(err, errRenew) {
			return best, err == nil && shown, shown
		}
	}
	return best, false, shown
}

// last are the calls without which the finding's own means nothing.
func (s *shrinker) last(f *finding.Finding) []synth.Step {
	call := s.steps[f.Call-1]
	if f.Rule == "CM306" {
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

// shownBetween judges the log of a sandbox that still runs.
func (s *shrinker) shownBetween(dir *os.Root, f *finding.Finding, first, last int) (bool, error) {
	res, err := judge(dir, analyze.Options{Rule: f.Rule, Fingerprint: f.Fingerprint})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(res.ShownIn, func(n int) bool { return n >= first && n <= last }), nil
}

// trial starts the server in a fresh sandbox with the same surroundings and
// lets work have the session.
func (s *shrinker) trial(ctx context.Context, work func(context.Context, *conversation) error) error {
	if err := s.dir.RemoveAll(trialDir); err != nil {
		return fmt.Errorf("remove an earlier trial: %w", err)
	}
	if err := s.dir.Mkdir(trialDir, 0o700); err != nil {
		return fmt.Errorf("make a trial's directory: %w", err)
	}
	dir, err := s.dir.OpenRoot(trialDir)
	if err != nil {
		return fmt.Errorf("open a trial's directory: %w", err)
	}
	defer dir.Close()
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return fmt.Errorf("draw a run's id: %w", err)
	}
	q := *s.p
	q.runID = hex.EncodeToString(id)
	q.spec.RunID = q.runID
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
