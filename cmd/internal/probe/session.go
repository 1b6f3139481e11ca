package probe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
	"github.com/coalmine-dev/coalmine/synth"
)

// settle is how long a server is watched after each call before the next: what a
// timer does then is nobody's call.
const settle = 20 * time.Millisecond

// syncTimeout bounds the wait for the tracer's records after a call; a tracer
// that takes longer makes the run inconclusive.
const syncTimeout = 10 * time.Second

// conversation is a started server as synth sees it.
type conversation struct {
	*client.Client
	run     *sandbox.Run
	rec     *recorder
	surface *wire.Surface
}

// Relist lists the surface again, in the phase of its own that the judge knows.
func (c *conversation) Relist(ctx context.Context) (*wire.Surface, error) {
	c.phase(finding.PhaseList)
	defer c.phase(finding.PhaseIdle)
	s := &wire.Surface{Server: c.surface.Server, Protocol: c.surface.Protocol, Instructions: c.surface.Instructions, Capabilities: c.surface.Capabilities}
	err := c.List(ctx, s)
	c.sync(ctx)
	return s, err
}

// Sync implements synth.Session.
func (c *conversation) Sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	return c.run.Sync(ctx)
}

// sync is Sync where a failure is a reason to doubt the run, not to end it.
func (c *conversation) sync(ctx context.Context) {
	if err := c.Sync(ctx); err != nil && ctx.Err() == nil {
		c.doubt(session.GapRecordsLate, "", "the tracer's records did not come in time: "+err.Error())
	}
}

// search looks for decoys in what the server wrote since the last search.
func (c *conversation) search(ctx context.Context) {
	names := c.rec.takeWritten()
	if len(names) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	left, err := c.run.Search(ctx, names)
	if len(names) > maxWritten {
		left++
	}
	switch {
	case err != nil && ctx.Err() == nil:
		c.doubt(session.GapFilesNotSearched, "", "the files that were written could not be searched: "+err.Error())
	case left > 0:
		c.doubt(session.GapFilesNotSearched, "", "there were more files written than are searched after a call")
	}
}

func (c *conversation) phase(p finding.Phase) {
	c.rec.mark(session.Mark{Kind: session.MarkPhase, Phase: string(p)})
}

func (c *conversation) onCall(call synth.Call) {
	c.rec.named(call.Oracles)
	c.rec.mark(session.Mark{Kind: session.MarkCall, Call: call.N, Tool: call.Tool, What: call.What, N: int64(call.Repeats), Oracles: call.Oracles})
}

// onReturnAtOnce ends a call of which everything is recorded.
func (c *conversation) onReturnAtOnce(call synth.Call, o synth.Outcome, _ client.Result) {
	ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	c.search(ctx)
	c.rec.mark(session.Mark{Kind: session.MarkReturn, Call: call.N, Tool: call.Tool, What: string(o)})
}

// onReturn ends a call: its records are with the log before the mark is.
func (c *conversation) onReturn(call synth.Call, o synth.Outcome, r client.Result) {
	ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
	defer cancel()
	c.sync(ctx)
	c.onReturnAtOnce(call, o, r)
	time.Sleep(settle)
	c.sync(ctx)
}

// inputs records what the arguments given to a tool have reached.
func (c *conversation) inputs(t synth.Coverage) {
	if t.Calls == 0 {
		return
	}
	n := t.Inputs
	in := session.Inputs{Classes: t.Classes, Enums: session.Reached(n.Enums), Branches: session.Reached(n.Branches),
		Optional: session.Reached(n.Optional), Pairs: session.Reached(n.Pairs),
		Oracles: session.Reached{Reached: t.OraclesTried, Total: t.OraclesPlanned}, Listed: session.Reached{Reached: t.Listed, Total: t.Made}}
	c.rec.mark(session.Mark{Kind: session.MarkInputs, What: synth.WhatTool, Tool: t.Name, Inputs: &in})
}

// drive exercises the whole surface and records what it could not reach.
func (p *plan) drive(ctx context.Context, c *conversation, budget time.Duration) error {
	if p.opts.exact != nil {
		return p.opts.exact(ctx, c)
	}
	if p.work != nil {
		return p.work(ctx, c)
	}
	if p.opts.Replay != nil {
		return p.replay(ctx, c)
	}
	report, err := synth.Drive(ctx, synth.Config{
		Session: c, Surface: c.surface, Calls: p.opts.Calls, Seed: p.opts.Seed, CallTimeout: p.opts.CallTimeout, Budget: budget, Hints: p.hints, World: p.world, Words: p.words, Skip: p.skip, OracleTime: p.opts.OracleTime,
		OnCall: func(call synth.Call) {
			p.opts.Progress(fmt.Sprintf("call %d: %s %s", call.N, call.What, call.Tool))
			p.steps = append(p.steps, returned(call))
			c.onCall(call)
		},
		OnReturn: c.onReturn,
	})
	if report.Crashed != nil {
		p.crashed = report.Crashed.Tool
	}
	for _, t := range report.Tools {
		c.inputs(t)
	}
	for _, g := range report.Shortfalls {
		g.Phase = string(finding.PhaseCall)
		c.rec.mark(session.Doubt(g))
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// header is what the log says of the run before anything happens in it.
func (p *plan) header(backend string) session.Header {
	tracer := p.opts.Tracer
	transport := p.opts.Transport
	if transport == TransportStdio {
		transport = ""
	}
	return session.Header{Transport: transport, Vary: p.vary, Dummies: p.dummies(),
		RunID: p.spec.RunID, Seed: p.opts.Seed, Command: p.redacted(p.spec.Command), Target: p.target, Sandbox: backend, Tracer: tracer, Network: p.opts.Network,
		Canaries: p.set.Canaries(), User: p.set.User(), Home: p.set.Home(), ServerDir: p.spec.ServerDir, Workspaces: p.spec.Workspaces, Rooted: p.rooted, Unseen: unseen(backend, tracer), Version: p.opts.Version, Manifests: p.manifests(), Runtime: p.runtime, Package: p.pkg(),
	}
}

// unseen names the calls that a backend's own profile refuses before the tracer
// sees them, and those that are newer than the tracer.
func unseen(backend, tracer string) []string {
	out := []string{fmt.Sprintf("system calls numbered above %d, which this strace does not know", strace.LastCall)}
	if tracer == sandbox.TracerEBPF || tracer == TracerBoth {
		out = nil
	}
	if backend == "docker" {
		for _, call := range docker.Unseen() {
			out = append(out, call+", refused by the container's profile")
		}
	}
	return out
}

// dummies are the variables that were given, as a command line has them.
func (p *plan) dummies() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.opts.Dummies)) {
		out = append(out, name+"="+p.opts.Dummies[name])
	}
	return p.redacted(out)
}

func (p *plan) redacted(in []string) []string {
	r := recorder{secrets: p.secrets}
	var out []string
	for _, s := range in {
		out = append(out, string(r.redact([]byte(s))))
	}
	return out
}
