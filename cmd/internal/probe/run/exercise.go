package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// exercise speaks with a started server until its shutdown. What a server does
// wrong is recorded, and is no error.
func (s *Session) exercise(ctx context.Context) error {
	deadline := time.Now().Add(s.plan.Budget.Timeout)
	discoverErr := s.speak(ctx, deadline)
	s.collect(ctx)
	s.rec.awaitExit(ctx)
	if ctx.Err() == nil {
		s.phase(finding.PhaseShutdown)
	}
	s.progress("stopping")
	stopCtx, cancel := context.WithTimeout(ctx, 7*(1+agent.MostStarved)*stopGrace+syncTimeout)
	defer cancel()
	if err := s.sandbox.StopThen(stopCtx, stopGrace, s.plan.Drive.ByTerm, func() { s.search(stopCtx, true); s.collectRecord(stopCtx) }); err != nil && ctx.Err() == nil {
		s.doubt(session.GapSandboxNotStopped, finding.PhaseShutdown, "the sandbox did not stop in time")
	}
	if names, _ := s.rec.takeWritten(); len(names) > 0 && ctx.Err() == nil {
		s.doubt(session.GapFilesNotSearched, "", fmt.Sprintf("the sandbox was gone before the last %d files that were written could be searched", len(names)))
	}
	exit, err := s.sandbox.Wait(stopCtx)
	if err == nil && exit.Reason != "" && ctx.Err() == nil && s.rec.exit == nil {
		s.doubt(session.GapSandboxEnded, "", exit.Reason)
	}
	return discoverErr
}

// speak is the conversation: handshake, list, calls, idle.
func (s *Session) speak(ctx context.Context, deadline time.Time) error {
	s.phase(finding.PhaseHandshake)
	s.progress("handshake")
	surface, err := s.shake(ctx)
	s.sync(ctx)
	s.seen.Shaken = err == nil
	if err != nil {
		s.seen.Silent = silent(err)
		s.seen.Listening = s.seen.Silent && s.listens(ctx)
		if errors.Is(err, client.ErrEndedAtDiscover) {
			s.doubt(session.GapHandshakeFailed, finding.PhaseHandshake, "the server ended at server/discover")
			return err
		}
		s.doubt(session.GapHandshakeFailed, finding.PhaseHandshake, "the handshake failed: "+err.Error())
		return nil
	}
	s.surface = surface
	s.phase(finding.PhaseList)
	s.progress("listing")
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := s.List(bounded, surface); err != nil {
		s.doubt(session.GapNotListed, finding.PhaseList, "not everything was listed: "+err.Error())
	}
	s.sync(ctx)
	if s.driver == nil && s.plan.Drive.Kind == plan.DriveExplore {
		s.rec.startup.await(bounded, time.Until(deadline)/4)
		s.sync(ctx)
	}
	s.phase(finding.PhaseIdle)
	if err := s.drive(ctx, time.Until(deadline)); err != nil {
		s.doubt(session.GapCallsIncomplete, finding.PhaseCall, "the calls were not completed: "+err.Error())
	}
	s.awaitRest(ctx, sandbox.Rest{Most: s.plan.Budget.Idle, Least: s.plan.Budget.Idle, Far: s.plan.Drive.Far})
	s.search(ctx, false)
	s.askListeners(ctx)
	return nil
}

// drive makes the calls: the Driver's, or those of the plan.
func (s *Session) drive(ctx context.Context, budget time.Duration) error {
	if s.driver != nil {
		return s.driver(ctx, s)
	}
	if s.plan.Drive.Kind == plan.DrivePlay {
		return s.play(ctx)
	}
	return s.explore(ctx, budget)
}

// explore exercises the whole surface and records what it could not reach.
func (s *Session) explore(ctx context.Context, budget time.Duration) error {
	d, told := s.plan.Drive, s.calling(budget)
	left := pauser(pausesOf(s.surface, s.plan.Seed, s.plan.Budget.Calls))
	var called time.Time
	report, err := synth.Drive(ctx, synth.Config{
		Session: s, Surface: s.surface, Calls: s.plan.Budget.Calls, Seed: s.plan.Seed, CallTimeout: s.plan.Budget.CallTimeout, Budget: budget,
		Hints: d.Hints, World: s.plan.Oracles, Words: d.Words, Skip: d.Skip, Only: d.Only, Avoid: d.Avoid, OracleTime: s.plan.Budget.OracleTime,
		Turns: s.turns(), Rows: s.rows(), Asked: s.rec.asked.Load,
		OnPlan: s.OnPlan,
		OnCall: func(call synth.Call) {
			told(&call)
			s.seen.Steps = append(s.seen.Steps, synth.StepOf(call))
			s.OnCall(call)
			called = time.Now()
		},
		OnReturn: func(call synth.Call, o synth.Outcome, r client.Result) {
			s.seen.Steps[len(s.seen.Steps)-1].Took = time.Since(called)
			s.OnReturn(call, o, r)
			left(&call)
		},
	})
	if report.Crashed != nil {
		s.seen.Crashed = s.endedBy(report.Crashed.Tool)
		if s.endsUnasked(report.Crashed) {
			s.seen.CrashedWith = report.Crashed.Args
		}
	}
	for _, t := range report.Tools {
		s.inputs(t)
	}
	for _, short := range report.Shortfalls {
		short.Phase = string(finding.PhaseCall)
		s.rec.mark(session.Doubt(short))
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// calling tells of calls, how many of the declared tools were called, and how long the rest takes at most.
func (s *Session) calling(budget time.Duration) func(*synth.Call) {
	ends, left := time.Now().Add(budget), map[string]bool{}
	for i := range s.surface.Tools {
		left[s.surface.Tools[i].Name] = true
	}
	all := len(left)
	return func(c *synth.Call) {
		if c.What == synth.WhatTool {
			delete(left, c.Tool)
		}
		s.progress(fmt.Sprintf("call %d: %s %s; %d of %d tools called, at most %s left", c.N, c.What, c.Tool, all-len(left), all, max(time.Until(ends), 0).Round(time.Second)))
	}
}

// endedBy is the tool that ended the server: the one in whose call it was missed, but
// where one of the calls just before was of a tool that declares to end it.
func (s *Session) endedBy(missed string) string {
	const before = 3 // as many calls a server answers at most in the moment before it ends
	for _, step := range slices.Backward(s.seen.Steps[max(0, len(s.seen.Steps)-before):]) {
		i := slices.IndexFunc(s.surface.Tools, func(t wire.Tool) bool { return t.Name == step.Name })
		if i < 0 {
			continue
		}
		if t := scope.OfTool(&s.surface.Tools[i]); t.DeclaresEnd() {
			return step.Name
		}
	}
	return missed
}

// endsUnasked reports whether the server ended in a call of a tool that declares nothing of the sort.
func (s *Session) endsUnasked(c *synth.Call) bool {
	i := slices.IndexFunc(s.surface.Tools, func(t wire.Tool) bool { return t.Name == c.Tool })
	if c.What != synth.WhatTool || i < 0 || s.seen.Crashed != c.Tool {
		return false
	}
	t := scope.OfTool(&s.surface.Tools[i])
	return !t.DeclaresEnd()
}

// Player makes sequences of calls in this session; quick leaves out the listing
// after each call and the wait for what a timer does then.
func (s *Session) Player(ctx context.Context, quick bool) (*synth.Player, error) {
	returned := s.OnReturn
	if quick {
		returned = s.OnReturnAtOnce
	}
	return synth.NewPlayer(ctx, synth.Config{
		Session: s, Surface: s.surface, Seed: s.plan.Seed, CallTimeout: s.plan.Budget.CallTimeout, ListOnce: quick,
		Hints: s.plan.Drive.Hints, Skip: s.plan.Drive.Skip,
		OnCall: s.OnCall, OnReturn: returned,
	})
}

// play makes the plan's calls.
func (s *Session) play(ctx context.Context) error {
	steps := slices.Clone(s.plan.Drive.Steps)
	if s.plan.Oracles != nil {
		synth.Aim(steps, s.plan.Oracles.Value)
	}
	player, err := s.Player(ctx, s.plan.Drive.Quick)
	if err != nil {
		return err
	}
	s.progress("making the calls again")
	guide := s.newGuide(ctx, player)
	first, last, err := player.Play(steps)
	s.seen.Played = last - first + 1
	switch {
	case err == nil && guide != nil:
		guide.vary()
	case err == nil || errors.Is(err, synth.ErrCrash):
	case s.plan.Vary != nil:
		s.doubt(session.GapCallsIncomplete, finding.PhaseCall, "the calls were not all made again: "+err.Error())
	default:
		s.doubt(session.GapReplayIncomplete, finding.PhaseCall, fmt.Sprintf("%d of %d calls were replayed: %v", s.seen.Played, len(steps), err))
	}
	return nil
}

// collect takes along what the server wrote in places that last, while it still lives.
func (s *Session) collect(ctx context.Context) {
	p := s.plan
	if !p.Drive.Collect {
		return
	}
	names := s.rec.lasting(append([]string{p.Identity.Home, p.Server.ServerDir}, p.Server.Workspaces...), p.Planted)
	if len(names) == 0 {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	files, left, err := s.sandbox.Collect(bounded, names)
	left += s.rec.unkept()
	switch {
	case err != nil && ctx.Err() == nil:
		s.doubt(session.GapFilesNotKept, "", "the files that the server left could not be taken along for its second start: "+err.Error())
	case left > 0:
		s.doubt(session.GapFilesNotKept, "", fmt.Sprintf("%d of the files that the server left were too many to be taken along for its second start", left))
	}
	for _, f := range files {
		if slices.Contains(names, f.Path) {
			s.seen.Left = append(s.seen.Left, f)
		}
	}
}

// collectRecord takes along what the server's processes recorded, when none is left of them.
// What is missing was not recorded.
func (s *Session) collectRecord(ctx context.Context) {
	if s.plan.Drive.Record != "" {
		s.seen.Recorded, s.seen.RecordedWhole = s.recorded(ctx)
	}
}

// recorded is what the server's processes have recorded so far, and whether that is all.
func (s *Session) recorded(ctx context.Context) ([]rootfs.File, bool) {
	s.sync(ctx)
	_, _ = s.rec.takeWritten()
	names := s.rec.lasting([]string{s.plan.Drive.Record}, s.plan.Planted)
	bounded, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	files, left, err := s.sandbox.Collect(bounded, names)
	return files, err == nil && left == 0 && len(files) == len(names)
}

// unkept is how many paths lasting may lack.
func (r *recorder) unkept() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forgotten
}

// lasting are the files below some directories that the server wrote and that
// are not planted, and the directories that it made there, in the order in which
// they came.
func (r *recorder) lasting(dirs []string, planted func(string) bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, name := range r.ever {
		if !planted(name) && slices.ContainsFunc(dirs, func(d string) bool { return d != "" && strings.HasPrefix(name, d+"/") }) {
			out = append(out, name)
		}
	}
	return out
}
