package experiment

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/recorder"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The programs that name another operating system to a server's own code: a start-up hook of Python and a module of
// Node.js.
var (
	//go:embed elsewhere.py
	elsewherePython string
	//go:embed elsewhere.cjs
	elsewhereNode string
)

const (
	// maxSystems bounds the operating systems that are tried.
	maxSystems = 2
	// elsewhereCalls is how often each tool is called on one, beside the calls that reached more code, and
	// elsewhereTime bounds the run.
	elsewhereCalls = 4
	elsewhereTime  = 30 * time.Second
)

// Elsewhere makes the calls again while the server's own code sees another operating system: a branch for macOS or
// Windows runs nowhere else here. What it does still happens in this sandbox, so programs that it asks for may be absent.
var Elsewhere = Experiment{
	Name: "system", Role: session.RoleFurther, Stage: StageReached, Dir: "system", Rounds: maxSystems, Optional: true, Recorded: true,
	Proves: "what the server does where it sees another operating system",
	When:   func(c *Case) bool { return len(c.Rounds) < len(c.Systems) && c.OwnCode != "" },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		steps := slices.Concat(firstSteps(c.Seen.Steps, elsewhereCalls), c.Guided)
		b := p.Budget
		b.Timeout = min(elsewhereTime, b.Timeout)
		return seeing(recorded(p.WithoutOracles().Repeating(steps).WithBudget(b), c.OwnCode), c.Systems[len(c.Rounds)], c.OwnCode), nil
	},
	Progress: func(c *Case) string { return "once more, as if on " + systemTitle(c) },
	How:      func(c *Case) string { return "as if on " + systemTitle(c) },
	Lost:     "the run that shows another operating system",
}

// systemTitle names the system of the next round.
func systemTitle(c *Case) string {
	if c.Systems[len(c.Rounds)] == "win32" {
		return "Windows"
	}
	return "macOS"
}

// seeing is a plan whose server's own code, in a directory, sees another system, as Node.js names it.
func seeing(p plan.Plan, system, code string) plan.Plan {
	dir := p.Identity.Home + "/" + session.HelperDirs[2]
	place, _ := json.Marshal(code) // a string has a JSON form, which Python reads too
	filled := func(program string) []byte {
		return []byte(strings.NewReplacer("@SYSTEM@", system, `"@CODE@"`, string(place)).Replace(program))
	}
	return preloaded(p, dir, "elsewhere.cjs", filled(elsewherePython), filled(elsewhereNode))
}

// preloaded is a plan that plants a start-up hook of Python and a module that Node.js loads first, behind those that it
// has already.
func preloaded(p plan.Plan, dir, module string, python, node []byte) plan.Plan {
	p = p.Planting(
		rootfs.File{Path: dir, Mode: 0o755, Dir: true},
		rootfs.File{Path: dir + "/sitecustomize.py", Mode: 0o644, Data: recorder.Hook(python)},
		rootfs.File{Path: dir + "/" + module, Mode: 0o644, Data: node},
	)
	after := func(name, separator, value string) plan.Variable {
		return plan.Variable{Name: name, Value: strings.TrimPrefix(valueOf(p.Env, name)+separator+value, separator)}
	}
	return p.With(after("PYTHONPATH", ":", dir), after("NODE_OPTIONS", " ", "--require "+dir+"/"+module))
}
