package experiment

import (
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// loopback starts a server again that tried a port of the loopback address on which
// nothing listened: labs and malware post there, honest clients only look whether
// somebody is at home. This time it is answered.
var loopback = Experiment{
	Name: "loopback", Role: session.RoleFurther, Stage: StageFurther, Supplies: true, Dir: "loopback",
	Proves: "what the server sends to a loopback port once somebody listens there",
	When:   func(c *Case) bool { return c.Seen.TriedLoopback && plan.WithLoopback(c.Plan.Network) != "" },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		if !c.Questions.Unserved { // else this run is the first in which the tools answer
			p = p.WithoutOracles()
		}
		return p.OnNetwork(plan.WithLoopback(p.Network)).WithBudget(bounded(p.Budget)), nil
	},
	Progress: always("starting once more, with an answer on the loopback address"),
	How:      always("with an answer on the loopback address"),
	Lost:     "the further start with an answer on the loopback address",
}

// bounded is a budget of at most the usual calls and time.
func bounded(b plan.Budget) plan.Budget {
	b.Calls, b.Timeout = min(plan.DefaultCalls, b.Calls), min(plan.DefaultTimeout, b.Timeout)
	return b
}
