package experiment

import (
	"strings"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// credentials starts a server again whose tools refused for want of a credential in a variable:
// behind the check of a token lies all that a tool does.
var credentials = Experiment{
	Name: "credentials", Role: session.RoleFurther, Stage: StageFurther, Supplies: true, Dir: "credentials",
	Proves: "what tools do that refused for want of a credential, once they have a made-up one",
	When:   func(c *Case) bool { return c.Unmade == nil && len(c.Plan.Unset(c.Questions.Variables)) > 0 },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		return p.Supplying(p.Unset(c.Questions.Variables)).WithBudget(bounded(p.Budget)), nil
	},
	Progress: func(c *Case) string { return "starting once more, with a made-up " + madeUp(c) },
	How:      func(c *Case) string { return "with a made-up " + madeUp(c) },
	Lost:     "the further start with made-up credentials",
}

// madeUp names the variables that get a value.
func madeUp(c *Case) string { return strings.Join(c.Plan.Unset(c.Questions.Variables), ", ") }
