package experiment

import (
	"fmt"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// restart starts a server again that ended in a call, without the tools that
// ended it, so that the others are looked at all the same.
var restart = Experiment{
	Name: "restart", Role: session.RoleRestart, Stage: StageFurther, Dir: "restart", Rounds: 3,
	Proves: "what the tools do that a crash kept from being called",
	When:   func(c *Case) bool { return crashed(c) != "" },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		took := c.Seen.Took
		p = p.Skipping(alike(c.Seen.Crashed)...)
		for _, r := range c.Rounds {
			p = p.Skipping(alike(r.Crashed)...)
			took += r.Took
		}
		return remaining(p, took), nil
	},
	Progress: always("starting again after a crash"),
	How:      func(c *Case) string { return fmt.Sprintf("after restart %d", len(c.Rounds)+1) },
	Learn:    func(c *Case, seen []run.Observations) { c.Endings = endingsOf(c, seen) },
	Lost:     "the further start after a crash",
}

// alike are the names that end a server as one does.
func alike(tool string) []string {
	if names := rules.Inherited(tool); names != nil {
		return names
	}
	return []string{tool}
}

// crashed is the tool that ended the latest start, "" for none.
func crashed(c *Case) string {
	if n := len(c.Rounds); n > 0 {
		return c.Rounds[n-1].Crashed
	}
	return c.Seen.Crashed
}

// remaining is a plan with the time that is left of one start.
func remaining(p plan.Plan, took time.Duration) plan.Plan {
	b := p.Budget
	b.Timeout = timeLeft(b.Timeout, took)
	return p.WithBudget(b)
}

// timeLeft is what a restart has: all starts together have the time of one, as far
// as that is not too little for any.
func timeLeft(timeout, took time.Duration) time.Duration {
	return max(timeout-took, min(secondTime, timeout))
}
