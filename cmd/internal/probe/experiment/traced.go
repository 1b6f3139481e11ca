package experiment

import (
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// traced starts the server once more under ptrace, which it can see, where both
// tracers were asked for: the declared run is under eBPF, which it cannot.
var traced = Experiment{
	Name: "traced", Role: session.RoleTraced, Stage: StageCompare, Dir: "traced",
	Proves: "what the server does only where it cannot tell that it is watched",
	When:   func(c *Case) bool { return c.Plan.Tracer == plan.TracerBoth },
	Change: func(p plan.Plan, _ *Case) (plan.Plan, error) {
		return p.WithTracer(sandbox.TracerStrace), nil
	},
	Progress: always("once more, under ptrace"),
	How:      always("under ptrace"),
}
