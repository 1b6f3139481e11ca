package experiment

import (
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// unresolved starts a server again that looked up a name which cannot exist: who finds such
// a name knows that it is in a sandbox, and who waits for a name that its author will
// register, or draws names by the day, is answered only here.
var unresolved = Experiment{
	Name: "names", Role: session.RoleFurther, Stage: StageFurther, Dir: "names", Optional: true,
	Proves: "what the server does once the names that it looked up in vain lead to a host",
	When:   func(c *Case) bool { return len(c.Seen.NoNames) > 0 && c.Plan.Network != plan.NetworkNone },
	Change: func(p plan.Plan, _ *Case) (plan.Plan, error) {
		return p.WithoutOracles().WithEveryName().WithBudget(bounded(p.Budget)), nil
	},
	Progress: always("starting once more, with every name resolved"),
	How:      always("with every name resolved"),
	Lost:     "the further start with every name resolved",
}
