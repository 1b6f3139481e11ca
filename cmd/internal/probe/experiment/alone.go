package experiment

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// fastclock makes time pass faster in Python, whose threads wait by a call that the
// library does not move.
//
//go:embed fastclock.py
var fastclock []byte

const (
	// aloneIdle is how long a server is left alone on a fast clock: some 50 minutes for it.
	aloneIdle = 5 * time.Second
	// aloneCalls is how often each tool is called before, and aloneTime bounds the run.
	aloneCalls = 2
	aloneTime  = 30 * time.Second
)

// alone leaves a server to itself on a fast clock after a few calls: what it does then does
// no user ask for. Only what falls outside of calls is judged, since calls take minutes on
// that clock. A program that keeps its own clock, as Go's do, is watched for as long without.
var alone = Experiment{
	Name: session.ExperimentAlone, Role: session.RoleFurther, Dir: "alone", Optional: true,
	Proves: "what the server does by itself within an hour",
	When: func(c *Case) bool {
		_, err := faketime()
		return c.Plan.Sandbox.Backend == "local" && c.Plan.Watched() && (err == nil || runsPython(&c.Plan))
	},
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		calls := map[string]int{}
		steps := slices.DeleteFunc(slices.Clone(c.Seen.Steps), func(s synth.Step) bool {
			calls[s.Name]++
			return len(s.Oracles) > 0 || calls[s.Name] > aloneCalls
		})
		if !runsPython(&p) {
			var err error
			if p, err = clock(fmt.Sprintf("+0 x%d", fastRate))(p, c); err != nil {
				return p, err
			}
			p.Preload = "" // a program without it is watched all the same
		} else {
			dir := p.Identity.Home + "/.local/lib/clock"
			p.Files = slices.Concat(p.Files, []rootfs.File{{Path: dir, Mode: 0o755, Dir: true}, {Path: dir + "/sitecustomize.py", Mode: 0o644, Data: fastclock}})
			old := valueOf(p.Env, "PYTHONPATH")
			p = p.With(plan.Variable{Name: "PYTHONPATH", Value: strings.TrimSuffix(dir+":"+old, ":")})
		}
		p.Oracles = nil
		p.Drive.Kind, p.Drive.Steps, p.Drive.Quick = plan.DrivePlay, steps, true
		p.Budget.Idle, p.Budget.Timeout = aloneIdle, min(aloneTime, p.Budget.Timeout)
		return p, nil
	},
	Progress: always("once more, to be left alone on a fast clock"),
	How:      always("left alone on a fast clock"),
	Lost:     "the run on a fast clock",
}

// runsPython reports whether a plan's server is a program of Python's.
func runsPython(p *plan.Plan) bool {
	base := path.Base(p.Server.Command[0])
	return strings.HasPrefix(base, "python") || strings.HasPrefix(base, "pypy") || p.Package != nil && p.Package.Kind == "pypi"
}
