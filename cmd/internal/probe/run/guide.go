package run

import (
	"context"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/synth"
)

// guide is a search for inputs that reach new code of the server's own.
type guide struct {
	s   *Session
	ctx context.Context
	plan.Guide
	player *synth.Player
	// useful are the places of the plan's calls that reached new code. Where several were made
	// between two looks, all of them are.
	useful map[int]bool
	// seen is the first call since the last look, best how much had run then, at when that was,
	// and waited how long calls were waited for.
	seen, best int
	at         time.Time
	waited     time.Duration
	// done says that all of the code ran, so that no input can reach more.
	done bool
}

// newGuide follows what the calls of a player reach, where the plan asks for it; else it is nil.
func (s *Session) newGuide(ctx context.Context, player *synth.Player) *guide {
	g := &guide{s: s, ctx: ctx, Guide: s.plan.Drive.Guide, player: player, useful: map[int]bool{}, at: time.Now()}
	if g.Tries <= 0 || s.plan.Drive.Record == "" {
		return nil
	}
	player.After = g.after
	return g
}

// after looks what a call reached, once its records can be there: after each ordinary call while
// there is time to wait for that, and else after several.
func (g *guide) after(i int) {
	if g.done {
		return
	}
	if rest := g.Delay - time.Since(g.at); rest > 0 {
		if len(g.s.plan.Drive.Steps[i].Oracles) > 0 || g.waited > g.Time/2 {
			return
		}
		g.waited += rest
		g.wait(rest)
	}
	files, _ := g.s.recorded(g.ctx)
	if g.look(files) {
		for ; g.seen <= i; g.seen++ {
			g.useful[g.seen] = true
		}
	}
	g.seen, g.at = i+1, time.Now()
}

// wait reports whether the time passed before the run was given up.
func (g *guide) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-g.ctx.Done():
		return false
	}
}

// vary varies the calls that were played, and keeps those by which the server's processes
// record new code.
func (g *guide) vary() {
	g.s.progress("varying the calls by what code they reach")
	end := time.Now().Add(g.Time)
	first := true
	g.s.seen.Guided = g.player.Guide(g.s.plan.Drive.Steps, g.useful, g.Tries, func() (int, bool) {
		if !g.wait(g.Delay) {
			return g.best, false
		}
		files, whole := g.s.recorded(g.ctx)
		if !whole || !first && time.Now().After(end) {
			return g.best, false
		}
		if first {
			g.s.seen.Unguided, first = files, false
		}
		g.look(files)
		return g.best, !g.done
	})
}

// look reports whether the server's processes recorded more than at the last look.
func (g *guide) look(files []rootfs.File) bool {
	r := Recording(files)
	now := r.Size()
	if now <= g.best {
		return false
	}
	g.best = now
	g.done = g.s.allRan != nil && g.s.allRan(r)
	return true
}

// Recording reads what a server's processes recorded.
func Recording(lists ...[]rootfs.File) *coverage.Recording {
	r := &coverage.Recording{}
	for _, f := range slices.Concat(lists...) {
		r.Add(f.Data)
	}
	return r
}
