package experiment

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// resumedCalls is how often each tool is called in a start among what was left, beside the calls that reached more
// code, and resumedTime bounds the run.
const (
	resumedCalls = 8
	resumedTime  = 30 * time.Second
)

// Resumed makes the calls again among the files that the declared run left, while the server's own code is recorded:
// a session, an index or a database of an earlier start is read nowhere else.
var Resumed = Experiment{
	Name: "resumed", Role: session.RoleFurther, Stage: StageReached, Dir: "resumed", Optional: true, Recorded: true,
	Proves: "what the server does with what it kept in an earlier start",
	When: func(c *Case) bool {
		return c.OwnCode != "" && c.Unread && slices.ContainsFunc(c.Seen.Left, isFile)
	},
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		steps := slices.Concat(firstSteps(withoutSlow(c.Seen.Steps), resumedCalls), c.Guided)
		b := p.Budget
		b.Timeout = min(resumedTime, b.Timeout)
		return recorded(p.WithoutOracles().Repeating(steps).WithBudget(b).WithLeft(c.Seen.Left), c.OwnCode), nil
	},
	Progress: always("once more, among the files that it left"),
	How:      always("among the files that an earlier start left"),
	Lost:     "the run among the files that an earlier start left",
}
