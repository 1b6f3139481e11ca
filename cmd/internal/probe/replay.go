package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// player is a session's player; quick leaves out the listing after each call and
// the wait for what a timer does then.
func (p *plan) player(ctx context.Context, c *conversation, quick bool) (*synth.Player, error) {
	returned := c.onReturn
	if quick {
		returned = c.onReturnAtOnce
	}
	return synth.NewPlayer(ctx, synth.Config{
		Session: c, Surface: c.surface, Seed: p.opts.Seed, CallTimeout: p.opts.CallTimeout, ListOnce: quick,
		OnCall: c.onCall, OnReturn: returned,
	})
}

// replay makes the calls of a replay file instead of a drive.
func (p *plan) replay(ctx context.Context, c *conversation) error {
	steps := p.opts.Replay.Steps
	synth.Aim(steps, p.world.Value)
	player, err := p.player(ctx, c, false)
	if err != nil {
		return err
	}
	p.opts.Progress("replaying")
	first, last, err := player.Play(steps)
	p.played = last - first + 1
	if err != nil && !errors.Is(err, synth.ErrCrash) {
		c.doubt(session.GapReplayIncomplete, finding.PhaseCall, fmt.Sprintf("%d of %d calls were replayed: %v", p.played, len(steps), err))
	}
	return nil
}

// Replayed reports whether all calls of a replay were made, or the server ended at one.
func (o *Outcome) Replayed() bool { return o.replayed }

// returned is a call as it was made, for a later replay.
func returned(c synth.Call) synth.Step {
	return synth.Step{What: c.What, Name: c.Tool, Args: c.Args, Oracles: c.Oracles}
}
