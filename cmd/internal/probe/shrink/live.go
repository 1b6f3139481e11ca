package shrink

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/synth"
)

const (
	// liveTrials is how many sequences one sandbox plays. The log is judged after each.
	liveTrials = 200
	// maxLost is how many sandboxes may be lost over one finding, by a server that
	// ends in a call.
	maxLost = 5
)

// errRenew says that a sandbox has played enough, or that its server has ended.
var errRenew = errors.New("a fresh sandbox is due")

// live is how far a finding was made small in running sandboxes.
type live struct {
	shrinker *synth.Shrinker
	done     bool
	lost     int
}

// trials are what sequences showed, by their calls: one play answers for every
// finding of the list.
type trials struct {
	log    *analyze.Live
	wanted map[string]string
	player *synth.Player
	shown  map[string][]string
	left   int
}

// alone makes the one call small that showed each finding, in running sandboxes:
// one serves all findings as long as it lives.
func (s *Shrinker) alone(ctx context.Context, list []*small) {
	t := &trials{wanted: map[string]string{}, shown: map[string][]string{}}
	for _, m := range list {
		t.wanted[m.f.Fingerprint] = m.f.Rule
		rule, _ := rules.Of(m.f.Rule)
		m.live.done = rule.Shrink != rules.ShrinkLive
	}
	for ctx.Err() == nil && slices.ContainsFunc(list, func(m *small) bool { return !m.live.done }) {
		begun := false
		dir, _ := s.trial(ctx, func(ctx context.Context, c *run.Session, dir *os.Root) (err error) {
			t.left = liveTrials
			if t.player, err = c.Player(ctx, true); err != nil {
				return err
			}
			if t.log, err = analyze.OpenLive(dir); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, t.log.Close()) }()
			begun = true
			for i, m := range list {
				if m.live.shrinker == nil {
					m.live.shrinker = synth.NewShrinker(s.valid(c))
				}
				if m.live.done {
					continue
				}
				if err := m.reduce(ctx, t, list[:i]); err != nil {
					return err
				}
			}
			return nil
		})
		if dir != nil {
			_ = dir.Close() // it was only read
		}
		if !begun {
			return // it does not start again: what is left is tried in sandboxes of its own
		}
	}
}

// reduce makes one finding small. What others of the same tool came down to is
// likely to show it, too.
func (m *small) reduce(ctx context.Context, t *trials, others []*small) error {
	shows := func(steps []synth.Step) (bool, error) { return t.shows(m.f.Fingerprint, steps) }
	err := error(nil)
	if !m.shown {
		m.shown, err = shows(m.best)
	}
	for _, o := range others {
		if err != nil || !m.shown || !o.shown || o.f.Tool != m.f.Tool || len(o.best) > len(m.best) || size(o.best) >= size(m.best) {
			continue
		}
		var again bool
		if again, err = shows(o.best); again {
			m.best = o.best
		}
	}
	if err == nil && m.shown {
		m.best, err = m.live.shrinker.Shrink(ctx, m.best, shows)
		m.minimal = err == nil
	}
	if errors.Is(err, errRenew) {
		crashed := t.left > 0
		if crashed {
			m.live.lost++
		}
		m.live.done = crashed && !m.shown || m.live.lost > maxLost
		return err
	}
	m.live.done = true
	return nil
}

// size measures calls by what has to be read of them.
func size(steps []synth.Step) int {
	n := 0
	for _, s := range steps {
		n += len(s.Args)
	}
	return n
}

// shows plays a sequence, if it was not played before, and says whether a finding was among
// what it showed.
func (t *trials) shows(fingerprint string, steps []synth.Step) (bool, error) {
	raw, err := json.Marshal(steps)
	if err != nil {
		return false, err
	}
	if known, ok := t.shown[string(raw)]; ok {
		return slices.Contains(known, fingerprint), nil
	}
	if t.left--; t.left < 0 {
		return false, errRenew
	}
	first, last, err := t.player.Play(steps)
	if errors.Is(err, synth.ErrCrash) {
		t.shown[string(raw)] = nil // what ends the server shows nothing else
		return false, errRenew
	}
	if err != nil {
		return false, err
	}
	shownIn := t.log.Shown(t.wanted, first)
	known := []string{}
	for f := range t.wanted {
		if within(shownIn[f], first, last) {
			known = append(known, f)
		}
	}
	t.shown[string(raw)] = known
	return slices.Contains(known, fingerprint), nil
}

func within(calls []int, first, last int) bool {
	return slices.ContainsFunc(calls, func(n int) bool { return n >= first && n <= last })
}

// confirmTogether plays what running sandboxes came down to in fresh ones, all in
// turn. What is in another's way is confirmed by itself afterwards.
func (s *Shrinker) confirmTogether(ctx context.Context, list []*small) {
	list = slices.DeleteFunc(slices.Clone(list), func(m *small) bool { return !m.shown })
	for k := 0; k < Confirmations && len(list) > 0 && ctx.Err() == nil; k++ {
		wanted := map[string]string{}
		first, last := map[*small]int{}, map[*small]int{}
		dir, err := s.trial(ctx, func(ctx context.Context, c *run.Session, _ *os.Root) error {
			player, err := c.Player(ctx, false)
			if err != nil {
				return err
			}
			for _, m := range list {
				wanted[m.f.Fingerprint] = m.f.Rule
				from, to, err := player.Play(m.best)
				if err != nil {
					return err
				}
				first[m], last[m] = from, to
			}
			return nil
		})
		if dir == nil {
			return
		}
		var shownIn map[string][]int
		if err == nil || len(first) > 0 {
			shownIn, err = shownBy(dir, wanted)
		}
		_ = dir.Close() // it was only read
		if err != nil {
			return
		}
		for m, from := range first {
			if m.tried++; within(shownIn[m.f.Fingerprint], from, last[m]) {
				m.again++
			}
		}
	}
}

// shownBy are the calls of a run that has ended, each of which shows a finding.
func shownBy(dir *os.Root, wanted map[string]string) (map[string][]int, error) {
	log, err := analyze.OpenLive(dir)
	if err != nil {
		return nil, err
	}
	return log.Shown(wanted, 1), log.Close()
}
