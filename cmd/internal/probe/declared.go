package probe

import (
	"context"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// declared runs the server as it was declared. It starts it again where it does not answer: over HTTP where it listens
// on a port instead, and with a made-up credential where it names a variable that it needs.
func (p *probe) declared(ctx context.Context) (run.Observations, error) {
	seen, err := p.declaredOnce(ctx)
	if err != nil || seen.Shaken || p.opts.Replay != nil || p.fetched.Unmade() {
		return seen, err
	}
	if p.overPort(&seen) {
		return p.declaredOverHTTP(ctx)
	}
	log, err := session.Open(p.dir)
	if err != nil {
		return seen, fmt.Errorf("read the run's log: %w", err)
	}
	asked, err := analyze.QuestionsOf(log)
	if err != nil {
		return seen, err
	}
	names := p.plan.Unset(asked.AtStart)
	if len(names) == 0 {
		return seen, nil
	}
	p.opts.Progress("starting again with a made-up " + strings.Join(names, ", ") + ", without which the server ends")
	p.plan = p.plan.Supplying(names)
	if seen, err = p.declaredAgain(ctx); err == nil && p.overPort(&seen) {
		return p.declaredOverHTTP(ctx)
	}
	return seen, err
}

// overPort reports whether a server is to be spoken to over a port that it opened.
func (p *probe) overPort(seen *run.Observations) bool {
	return seen.Listening && p.plan.Server.Guessed
}

// declaredOverHTTP is declared for a server that listens on a port and does not answer on its stdout. Where it does not
// speak MCP over HTTP either, it has all the time of a handshake on its stdout.
func (p *probe) declaredOverHTTP(ctx context.Context) (seen run.Observations, err error) {
	for _, transport := range []string{plan.TransportHTTP, plan.TransportSSE, plan.TransportStdio} {
		p.opts.Progress(fmt.Sprintf("starting again with --transport %s: the server listens on a port and does not answer", transport))
		p.plan = p.plan.SpeakingOver(transport)
		if seen, err = p.declaredAgain(ctx); err != nil || seen.Shaken {
			return seen, err
		}
	}
	return seen, nil
}

// declaredAgain makes the declared run once more in the place of the last.
func (p *probe) declaredAgain(ctx context.Context) (run.Observations, error) {
	p.runs = p.runs[:len(p.runs)-1]
	return p.declaredOnce(ctx)
}

func (p *probe) declaredOnce(ctx context.Context) (run.Observations, error) {
	e := &experiment.Declared
	if p.opts.Replay != nil {
		e = &experiment.Replay
	}
	c := &experiment.Case{Plan: p.plan}
	if p.fetched.Unmade() {
		c.Unmade = &session.Gap{Code: session.GapBuildFailed, Phase: session.PhaseBuild, Text: "the build made no server to run"}
	}
	indexed, seen, err := p.scheduler().Make(ctx, e, c, e.Dir)
	p.runs = append(p.runs, indexed)
	return seen, err
}
