package experiment

import (
	"fmt"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// otherUser starts a server again that looked for secrets in the HOME of another
// user: in a container it would be that user, and on a developer's machine that
// one may be its own. A container that is the sandbox itself keeps its users.
var otherUser = Experiment{
	Name: "home", Role: session.RoleFurther, Stage: StageFurther, Dir: "home", Optional: true,
	Proves: "what the server does with the secrets of the user that it looked for",
	When:   func(c *Case) bool { return c.Seen.LookedIn.Home != "" && c.Plan.Sandbox.Backend != "inplace" },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		q, err := c.Renew(c.Seen.LookedIn)
		if err != nil {
			return p, fmt.Errorf("start with %s as HOME: %w", c.Seen.LookedIn.Home, err)
		}
		return q.RunOf(p).Collecting(false).WithoutOracles().WithBudget(bounded(q.Budget)), nil
	},
	Progress: func(c *Case) string { return "starting once more, with " + c.Seen.LookedIn.Home + " as its HOME" },
	How:      func(c *Case) string { return "with " + c.Seen.LookedIn.Home + " as its HOME" },
	Lost:     "the further start with another user's HOME",
}
