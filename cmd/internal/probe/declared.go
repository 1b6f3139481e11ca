package probe

import (
	"context"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// declared runs the server as it was declared, and again where it does not start without a credential in a
// variable that it names: with a made-up one.
func (p *probe) declared(ctx context.Context) (run.Observations, error) {
	seen, err := p.declaredOnce(ctx)
	if err != nil || len(seen.Steps) > 0 || p.opts.Replay != nil || p.fetched.Unmade() {
		return seen, err
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
	p.plan, p.runs = p.plan.Supplying(names), p.runs[:len(p.runs)-1]
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
