package experiment

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// The programs that make time pass faster within a server's own processes: a start-up hook of
// Python, whose threads wait by a call that libfaketime does not move, and a module of Node.js.
var (
	//go:embed fastclock.py
	fastPython []byte
	//go:embed fastclock.cjs
	fastNode []byte
)

const (
	// aloneIdle is how long a server is left alone on a fast clock: by the clocks of Python and
	// Node.js an hour and then eight days, by others' an hour.
	aloneIdle = 6 * time.Second
	// aloneCalls is how often each tool is called before, and aloneTime bounds the run.
	aloneCalls = 2
	aloneTime  = 30 * time.Second
)

// Alone leaves a server to itself on a fast clock after a few calls: what it does then does
// no user ask for. Its calls take minutes on that clock, so the judge blurs what falls into
// them. A program that keeps its own clock, as Go's do, is watched for as long without.
var Alone = Experiment{
	Name: "alone", Role: session.RoleFurther, Stage: StageCode, Dir: "alone", Optional: true, Timers: true, Recorded: true,
	Proves: "what the server does by itself within days",
	When:   func(c *Case) bool { return !c.Test.Attended && c.Plan.Sandbox.Backend == "local" && c.Plan.Watched() },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		steps := firstSteps(c.Seen.Steps, aloneCalls)
		b := p.Budget
		b.Idle, b.Timeout = aloneIdle, min(aloneTime, b.Timeout)
		if !c.Seen.Shaken {
			b.Timeout = min(2*aloneIdle, b.Timeout) // it waits for an answer that does not come
		}
		// The other runs end by the end of stdin: what a server does at a signal shows here.
		return hurried(p, c).WithoutOracles().Repeating(steps).EndingByTerm().WithBudget(b), nil
	},
	Progress: always("once more, to be left alone on a fast clock"),
	How:      always("left alone on a fast clock"),
	Lost:     "the run on a fast clock",
}

// firstSteps are the first calls of each tool without an attack input.
func firstSteps(steps []synth.Step, most int) []synth.Step {
	calls := map[string]int{}
	return slices.DeleteFunc(slices.Clone(steps), func(s synth.Step) bool {
		calls[s.Name]++
		return len(s.Oracles) > 0 || calls[s.Name] > most
	})
}

// hurried is a plan with a fast clock, as far as the server's program takes one. Where its own
// code is to be recorded, what a timer starts is recorded too.
func hurried(p plan.Plan, c *Case) plan.Plan {
	script := startsScript(&p)
	if !script {
		if q, err := clock(fmt.Sprintf("+0 x%d", fastRate))(p, c); err == nil {
			return q.Preloading("") // a program without it is watched all the same
		}
		return p
	}
	if c.OwnCode != "" {
		p = recorded(p, c.OwnCode)
	}
	return preloaded(p, p.Identity.Home+"/"+session.HelperDirs[1], "fastclock.cjs", fastPython, fastNode)
}

// startsScript reports whether a plan's server is a program of Python's or Node.js's.
func startsScript(p *plan.Plan) bool { return startsPython(p) || starts(p, "npm", "node", "npx") }

// startsPython reports whether it is one of Python's.
func startsPython(p *plan.Plan) bool { return starts(p, "pypi", "python", "pypy", "uv") }

// starts reports whether a plan's server is of a kind of package, or its program's name begins
// with one of some names.
func starts(p *plan.Plan, kind string, names ...string) bool {
	if p.Package != nil && p.Package.Kind == kind {
		return true
	}
	base := path.Base(p.Server.Command[0])
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(base, name) })
}
