package run

import (
	"context"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth"
	"github.com/coalmine-dev/coalmine/synth/answers"
)

// syncTimeout bounds the wait for the tracer's records after a call; a tracer
// that takes longer makes the run inconclusive.
const syncTimeout = 10 * time.Second

// Session is a started server as a Driver sees it.
type Session struct {
	*client.Client
	plan     *plan.Plan
	sandbox  *sandbox.Run
	rec      *recorder
	progress func(string)
	driver   Driver
	// ready is closed once sandbox is set.
	ready chan struct{}
	// endpoint is the path that HTTP goes to.
	endpoint func() string
	allRan   AllRan
	surface  *wire.Surface
	seen     Observations
	// wrote says that files were opened for writing, or moved, in the call under way.
	wrote bool
	// served is what the sinkhole answers with, and fits are the answers with the members that each tool
	// returns which was called.
	served sinkhole.Served
	fits   map[string]string
	// lastCall is the number of the latest call.
	lastCall int
	// heard says that something that the server listens on answered in the call under way.
	heard bool
}

// Surface is what the server declared when it was listed first.
func (s *Session) Surface() *wire.Surface { return s.surface }

// doubt records a reason for which the run can not be called clean.
func (s *Session) doubt(code session.Code, phase finding.Phase, text string) {
	s.rec.doubt(code, phase, text)
}

// Relist lists the surface again, in the phase of its own that the judge knows.
func (s *Session) Relist(ctx context.Context) (*wire.Surface, error) {
	s.phase(finding.PhaseList)
	defer s.phase(finding.PhaseIdle)
	now := &wire.Surface{Server: s.surface.Server, Protocol: s.surface.Protocol, Instructions: s.surface.Instructions, Capabilities: s.surface.Capabilities}
	err := s.List(ctx, now)
	s.sync(ctx)
	return now, err
}

// Announced implements synth.Announcer.
func (s *Session) Announced() int64 {
	n := s.Counters()
	return n.ToolsChanged + n.ResourcesChanged + n.PromptsChanged
}

// Sync implements synth.Session.
func (s *Session) Sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	if !s.sockets() {
		if err := s.sandbox.SyncCalls(ctx); err != nil || !s.sockets() {
			return err
		}
	}
	return s.sandbox.Sync(ctx)
}

// sync is Sync where a failure is a reason to doubt the run, not to end it.
func (s *Session) sync(ctx context.Context) {
	if err := s.Sync(ctx); err != nil && ctx.Err() == nil {
		s.doubt(session.GapRecordsLate, "", "the tracer's records did not come in time: "+err.Error())
	}
}

// search looks for decoys in what the server wrote since the last search, and at
// the last in all that it wrote.
func (s *Session) search(ctx context.Context, last bool) {
	names, any := s.rec.takeWritten()
	if !any {
		return
	}
	s.wrote = len(names) > 0
	bounded, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	left, err := s.sandbox.Search(bounded, names, last)
	if len(names) > maxWritten {
		left++
	}
	switch {
	case err != nil && ctx.Err() == nil:
		s.doubt(session.GapFilesNotSearched, "", "the files that were written could not be searched: "+err.Error())
	case left > 0:
		s.doubt(session.GapFilesNotSearched, "", "there were more files written than are searched after a call")
	}
}

func (s *Session) phase(p finding.Phase) {
	s.rec.mark(session.Mark{Kind: session.MarkPhase, Phase: string(p)})
}

// OnPlan records the calls that are drawn before the first one.
func (s *Session) OnPlan(calls []synth.Call) {
	for _, c := range calls {
		s.rec.mark(session.Mark{Kind: session.MarkPlanned, What: c.What, Tool: c.Tool, N: int64(c.N), Text: string(c.Args)})
	}
}

// OnCall records that a call begins.
func (s *Session) OnCall(call synth.Call) {
	s.rec.named(call.Oracles)
	s.lastCall = max(s.lastCall, call.N)
	s.serve(&call)
	s.rec.mark(session.Mark{Kind: session.MarkCall, Call: call.N, Tool: call.Tool, What: call.What, N: int64(call.Repeats), From: call.From, Oracles: call.Oracles, Turn: call.Turn})
}

// turns is how many kinds of answers the sinkhole gives.
func (s *Session) turns() int {
	if s.plan.Network == plan.NetworkNone || s.plan.Network == plan.NetworkRefuse {
		return 0
	}
	return int(sinkhole.Turns)
}

// rows are the kinds of answers whose lists hold the planted command.
func (s *Session) rows() []int {
	if s.turns() == 0 {
		return nil
	}
	return []int{int(sinkhole.TurnRows), int(sinkhole.TurnWords)}
}

// maxFit bounds the answer that fits a call, in bytes.
const maxFit = 32 << 10

// fitOf is an answer with the members that a tool's outputSchema has, "" for a tool without one.
func (s *Session) fitOf(call *synth.Call) string {
	if call.What != synth.WhatTool || s.surface == nil || s.turns() == 0 {
		return ""
	}
	fit, known := s.fits[call.Tool]
	if known {
		return fit
	}
	if i := slices.IndexFunc(s.surface.Tools, func(t wire.Tool) bool { return t.Name == call.Tool }); i >= 0 && len(s.surface.Tools[i].OutputSchema) > 0 {
		if sample, ok := answers.Sample(s.surface.Tools[i].OutputSchema); ok && len(sample) <= maxFit {
			fit = sample
		}
	}
	if s.fits == nil {
		s.fits = map[string]string{}
	}
	s.fits[call.Tool] = fit
	return fit
}

// serve has the sinkhole answer as fits a call, where it does not yet.
func (s *Session) serve(call *synth.Call) {
	s.rec.asked.Store(false)
	if s.turns() == 0 || call.Turn >= int(sinkhole.AllTurns) {
		return
	}
	served := sinkhole.Served{Turn: sinkhole.Turn(call.Turn), Fit: s.fitOf(call), Asked: askedFor(call)}
	if served.Turn == s.served.Turn && served.Fit == s.served.Fit && slices.Equal(served.Asked, s.served.Asked) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	if err := s.sandbox.Serve(ctx, served); err != nil {
		s.doubt(session.GapRecordsLate, finding.PhaseCall, err.Error())
		return
	}
	s.served = served
}

// OnReturnAtOnce ends a call of which everything is recorded.
func (s *Session) OnReturnAtOnce(call synth.Call, o synth.Outcome, _ client.Result) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*syncTimeout)
	defer cancel()
	s.search(ctx, false)
	s.rec.mark(session.Mark{Kind: session.MarkReturn, Call: call.N, Tool: call.Tool, What: string(o)})
}

// OnReturn ends a call whose records are with the log before the mark is, and waits
// until the server rests: what a timer does then is nobody's call.
func (s *Session) OnReturn(call synth.Call, o synth.Outcome, r client.Result) {
	s.wrote = false
	s.OnReturnAtOnce(call, o, r)
	if s.wrote {
		time.Sleep(session.FileClock) // else the next call's opens are not told from the write
	}
	ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	s.awaitRest(ctx, afterCall)
}

// inputs records what the arguments given to a tool have reached.
func (s *Session) inputs(t synth.Coverage) {
	if t.Calls == 0 {
		return
	}
	n := t.Inputs
	in := session.Inputs{Classes: t.Classes, Enums: session.Reached(n.Enums), Branches: session.Reached(n.Branches),
		Optional: session.Reached(n.Optional), Pairs: session.Reached(n.Pairs),
		Oracles: session.Reached{Reached: t.OraclesTried, Total: t.OraclesPlanned}, Listed: session.Reached{Reached: t.Listed, Total: t.Made}}
	s.rec.mark(session.Mark{Kind: session.MarkInputs, What: synth.WhatTool, Tool: t.Name, Inputs: &in})
}
