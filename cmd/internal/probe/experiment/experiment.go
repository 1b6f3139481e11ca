package experiment

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace/reached"
	"github.com/coalmine-dev/coalmine/synth"
)

// Experiment is a further run of a server, or several of its kind in turn.
type Experiment struct {
	// Name stands in the run's plan, its log's header and the index.
	Name string
	// Proves says what the run shows that the others cannot.
	Proves string
	// Role is how the judge takes the log, "" for a run whose log does not stay.
	Role session.Role
	// Stage is when the run is made.
	Stage Stage
	// Dir is the run's directory below the target's; where Rounds is set, "-N" follows.
	Dir string
	// When reports whether what is known so far gives reason for a run, nil for always.
	When func(*Case) bool
	// Change makes the experiment's plan of the declared run's.
	Change func(plan.Plan, *Case) (plan.Plan, error)
	// Rounds is how often the run is made at most; When is asked before each. 0 is once.
	Rounds int
	// Progress is the line about the run's start, How what evidence from it begins with.
	Progress, How func(*Case) string
	// Optional says that what could not be looked at in it is no reason for doubt.
	Optional bool
	// Timers, OneTool and Supplies are what the index says of the runs.
	Timers, OneTool, Supplies, Recorded bool
	// Learn adds to a case what later stages know by the runs.
	Learn func(*Case, []run.Observations)
	// Lost begins the reason for doubt where the run cannot be made. "" makes that an
	// error of the whole probe.
	Lost string
}

// Stage is when in a probe the runs of an experiment are made.
type Stage int

// The stages. The zero value is StageOwn.
const (
	// StageOwn: whoever needs the run makes it.
	StageOwn Stage = iota
	// StageCompare: the declared run is compared with them when it is judged.
	StageCompare
	// StageFurther: side by side, beside the judgement of the declared run.
	StageFurther
	// StageAfter: side by side, once those of StageFurther have ended.
	StageAfter
	// StageCode: side by side, beside StageFurther.
	StageCode
	// StageReached: side by side, once those of StageCode have ended.
	StageReached
)

// at are the experiments of a stage, in the order of the table.
func at(stage Stage) []Experiment {
	return slices.DeleteFunc(Table(), func(e Experiment) bool { return e.Stage != stage })
}

// Case is what an experiment is decided by.
type Case struct {
	// Plan is the declared run's, and Seen what that run learned.
	Plan plan.Plan
	Seen run.Observations
	// Rounds are what earlier rounds of the same experiment learned.
	Rounds []run.Observations
	// Endings are the tools at which the declared run or a restart ended.
	Endings []Ending
	// Vary are the factors that the user asked for.
	Vary []string
	// Questions are what only a comparison with the declared run can tell.
	Questions analyze.Questions
	// OwnCode is the directory of the server's own code in the sandbox where that has code
	// that a run has to show, "" otherwise.
	OwnCode string
	// OwnPlaces are those of the server's own compiled program that a run has to show, nil for none.
	OwnPlaces *reached.Places
	// AllRan knows the branches of that code, nil where there is none.
	AllRan run.AllRan
	// Guided are calls that reached more of that code than the declared run did.
	Guided []synth.Step
	// Own is that code, nil where there is none and for a compiled program. Of the run that recorded which of it runs,
	// Systems are the other operating systems for which code stays unseen that can do harm, and Unread says that such
	// code takes in what is kept.
	Own     *coverage.Code
	Systems []string
	Unread  bool
	// Unmade is why there is no server to start, nil where there is one.
	Unmade *session.Gap
	// Scripts are those of an installation, for the build alone.
	Scripts plan.Scripts
	// Idle starts the server's interpreter with nothing to do, for that experiment alone.
	Idle []string
	// Renew makes the declared plan again with decoys for another account, or for one
	// that is drawn where it is empty.
	Renew func(plan.Account) (plan.Plan, error)
	// Test is the zero value but in tests.
	Test Seams
}

// Seams are what only tests change. The zero value changes nothing.
type Seams struct {
	// FastIdle is how long a server is watched on a fast clock, 0 for the usual time.
	FastIdle time.Duration
	// Attended says that the server is not left alone: tests of other things save the time.
	Attended bool
	// VaryRounds is how often a condition is tried at most, 0 for the usual number.
	VaryRounds int
}

// Table lists every kind of run that coalmine makes, in the order in which a judge
// takes them.
func Table() []Experiment {
	table := []Experiment{Declared, Replay, Query, Fetch, Build, Interpreter, traced}
	table = append(table, control)
	for _, c := range conditions {
		table = append(table, c.experiment())
	}
	return append(table, Trial, restart, crashing, secondStart, loopback, credentials, furnished, otherUser, unresolved, Alone, Coverage, Guided, Elsewhere, Resumed)
}

// Declared is the run of the server as it was declared.
var Declared = Experiment{
	Name: "declared", Role: session.RoleDeclared, Dir: ".",
	Proves: "what the server does as it was declared",
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		// alone lets days pass for programs of Python and Node.js, and for others at most an hour.
		if !startsScript(&p) || p.Sandbox.Backend != "local" {
			return p.AwaitingTimers(time.Hour), nil
		}
		return p, nil
	},
}

// Replay makes only the calls of a replay file.
var Replay = Experiment{
	Name: "replay", Role: session.RoleDeclared, Dir: ".",
	Proves: "that the calls of a finding show it again",
	When:   func(c *Case) bool { return c.Plan.Drive.Kind == plan.DrivePlay },
	Change: same,
}

// Build runs the scripts that an installation of the package would run.
var Build = Experiment{
	Name: "build", Role: session.RoleBuild, Dir: "build",
	Proves: "what installing the package does",
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		l := p.Sandbox.Limits
		l.Output, l.CPU = maxBuilt, max(l.CPU, buildCPU)
		// What a build makes decides what is fetched next: it could spell a value in names of packages.
		return p.Unpassed().Limited(l).Building(c.Scripts), nil
	},
	How: always("in the build"),
}

const (
	// maxBuilt bounds what a build may send out, in bytes: its tree, as an archive.
	maxBuilt = 3 << 30
	// buildCPU is the least that a build may take: compilers do.
	buildCPU = 20 * time.Minute
)

// Interpreter starts the server's interpreter with nothing to do. What it reads is
// kept for later probes, which do without the run.
var Interpreter = Experiment{
	Name: "interpreter", Role: session.RoleHelper, Dir: "interpreter",
	Proves: "what the interpreter reads by itself",
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		return p.Helping(c.Idle...), nil
	},
}

// helperRounds bounds how often a program of a kind serves one probe.
const helperRounds = 100

// Query asks a program of the sandbox what it is, before the server has a plan.
var Query = Experiment{
	Name: "query", Role: session.RoleHelper, Dir: "query", Rounds: helperRounds,
	Proves: "which Python or Go the sandbox has",
	Change: same,
}

// Fetch has the client of a registry fetch a package, before the server has a plan.
var Fetch = Experiment{
	Name: "fetch", Role: session.RoleHelper, Dir: "fetch", Rounds: helperRounds,
	Proves: "what a registry has under the package's name",
	Change: same,
}

// Trial makes calls that may show a finding, to find the smallest that do.
var Trial = Experiment{
	Name: "trial", Dir: "trial",
	Proves: "which calls suffice to show a finding",
	Change: func(p plan.Plan, _ *Case) (plan.Plan, error) { return p.Playing(nil), nil },
}

// furtherOutput divides the bound on what a server prints in each further run: the declared
// run's log holds the whole, and a flood in a dozen runs fills the disk.
const furtherOutput = 8

func same(p plan.Plan, _ *Case) (plan.Plan, error) { return p, nil }

// always is a text that depends on nothing.
func always(text string) func(*Case) string { return func(*Case) string { return text } }

// Of makes the plan of an experiment's next run: the declared plan is left as it is.
func (e *Experiment) Of(c *Case) (plan.Plan, error) {
	p, err := c.Plan.For(e.Name)
	if err != nil {
		return p, err
	}
	if e.Role != session.RoleDeclared && e.Role != session.RoleHelper {
		l := p.Sandbox.Limits
		if !e.Supplies { // which is the first run that some tools answer in
			l.Output /= furtherOutput
		}
		p = p.Collecting(false).Limited(l)
	}
	if e.Role == session.RoleDeclared && c.Unmade != nil {
		return p.StartingNothing(*c.Unmade), nil
	}
	return e.Change(p, c)
}
