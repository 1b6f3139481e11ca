package experiment

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/recorder"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// Coverage makes the calls of the declared run again while the server's own processes record
// which of its code runs. The server can see that, so the declared run goes without.
var Coverage = Experiment{
	Name: "coverage", Role: session.RoleCoverage, Stage: StageCode, Dir: "coverage", Optional: true,
	Proves: "which of the server's own code ran",
	When: func(c *Case) bool {
		return c.Seen.Shaken && (c.OwnCode != "" || c.OwnPlaces != nil) && c.Plan.Watched()
	},
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		p = p.Repeating(withoutSlow(c.Seen.Steps))
		if c.OwnPlaces != nil {
			return p.WatchingPlaces(c.OwnPlaces), nil
		}
		return recorded(p.GuidedBy(guideOf(&p)), c.OwnCode), nil
	},
	Progress: always("once more, recording which code runs"),
	How:      always("while its own code was recorded"),
	Learn: func(c *Case, seen []run.Observations) {
		for _, o := range seen {
			c.Guided = o.Guided.Steps
			if c.Own != nil {
				report := c.Own.Compare(run.Recording(o.Recorded), "")
				systems := c.Own.Systems(report)
				c.Systems, c.Unread = systems[:min(len(systems), maxSystems)], report.LeavesReading()
			}
		}
	},
	Lost: "the run that records which code runs",
}

const (
	// guidedCalls is how many variations are called in all, for each call that the budget gives
	// a tool.
	guidedCalls = 20
	// nodeDelay is how long the recorder in Node.js takes for a program of some thousand lines.
	nodeDelay = 40 * time.Millisecond
)

// guideOf bounds the search for inputs that reach new code by the plan's budget: two fifths of
// the time of the oracles' inputs.
func guideOf(p *plan.Plan) plan.Guide {
	delay := nodeDelay
	if startsPython(p) {
		delay = 0
	}
	return plan.Guide{Tries: guidedCalls * p.Budget.Calls, Time: p.Budget.OracleTime * 2 / 5, Delay: delay}
}

// Guided makes the calls of the run that recorded which code runs again without a recorder,
// with those that varied them and reached new code: what such code does must be judged.
var Guided = Experiment{
	Name: "guided", Role: session.RoleFurther, Stage: StageReached, Dir: "guided", Optional: true,
	Proves: "what the server does with inputs that reach more of its own code",
	When:   func(c *Case) bool { return len(c.Guided) > 0 },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		return p.Repeating(GuidedSteps(c)), nil
	},
	Progress: always("once more, with inputs that reach more of its code"),
	How:      always("with inputs that reach more of its code"),
	Lost:     "the run with inputs that reach more code",
}

// GuidedSteps are the calls of Guided.
func GuidedSteps(c *Case) []synth.Step { return slices.Concat(withoutSlow(c.Seen.Steps), c.Guided) }

// recorded is a plan whose server's processes record which code of a directory runs.
func recorded(p plan.Plan, code string) plan.Plan {
	dir := p.Identity.Home + "/" + session.HelperDirs[0]
	p = p.Recording(recorder.Out(dir)).Planting(recorder.Files(dir, code)...)
	env := recorder.Env(dir, func(name string) string { return valueOf(p.Env, name) })
	for _, name := range []string{"NODE_OPTIONS", "PYTHONPATH"} {
		p = p.With(plan.Variable{Name: name, Value: env[name]})
	}
	return p
}

// valueOf is the value of a variable, "" for none.
func valueOf(env []plan.Variable, name string) string {
	for _, v := range env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}
