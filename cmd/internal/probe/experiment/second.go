package experiment

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// secondCalls is how often each tool is called in a second start, at least.
	secondCalls = 3
	// secondTime bounds a second start.
	secondTime = 30 * time.Second
	// secondLater is how far its clock is ahead: somebody starts the server again some days
	// later.
	secondLater = "+3d"
)

// second starts a server that left files behind a second time among them: what waits
// for that must not go unseen.
var second = Experiment{
	Name: "second", Role: session.RoleFurther, Dir: "second", Optional: true,
	Proves: "what the server does once it finds the files that it left",
	When:   func(c *Case) bool { return len(c.Seen.Left) > 0 },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		p = daysLater(p, c)
		p.Oracles = nil
		p.Files, p.Left = slices.Concat(p.Files, c.Seen.Left), len(c.Seen.Left)
		p.Budget.Calls, p.Budget.Timeout = min(secondCalls, p.Budget.Calls), min(secondTime, p.Budget.Timeout)
		return p, nil
	},
	Progress: always("starting a second time with the same HOME"),
	How:      always("in a second start with the same HOME"),
	Lost:     "the further start with the same HOME",
}

// daysLater moves the clock of a plan where that is to be had: files then are as much
// older. It is no reason for doubt where the server's program keeps its clock. In a
// container a library of this machine's might keep a program from starting.
func daysLater(p plan.Plan, c *Case) plan.Plan {
	later, err := clock(secondLater)(p, c)
	if err != nil || c.Plan.Sandbox.Backend != "local" {
		return p
	}
	later.Preload = ""
	return later.With(plan.Variable{Name: "NO_FAKE_STAT", Value: "1"})
}
