package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace/reached"
	"github.com/coalmine-dev/coalmine/synth"
)

// The methods of this file make another plan of one. Each returns a copy: no other package
// assigns to a plan's fields.

// In is a copy of the plan for a backend.
func (p Plan) In(backend string) Plan {
	p.Sandbox.Backend = backend
	return p
}

// Limited is a copy of the plan with other limits.
func (p Plan) Limited(l agent.Limits) Plan {
	p.Sandbox.Limits = l
	return p
}

// WithRing is a copy of the plan with a size of eBPF's buffer, in bytes.
func (p Plan) WithRing(size int) Plan {
	p.Sandbox.Ring = size
	return p
}

// WithTracer is a copy of the plan under a tracer.
func (p Plan) WithTracer(name string) Plan {
	p.Tracer = name
	return p
}

// WatchingPlaces is a copy of the plan that watches places of a compiled program.
func (p Plan) WatchingPlaces(places *reached.Places) Plan {
	p.Sandbox.Places = places
	return p
}

// Helping is a copy of the plan that runs a program in the server's place, which serves the probe.
func (p Plan) Helping(command ...string) Plan {
	p.Server.Command, p.Drive = command, Drive{Kind: DriveHelper}
	return p
}

// Building is a copy of the plan that runs an installation's scripts in the server's place.
func (p Plan) Building(s Scripts) Plan {
	p.Server.Command, p.Server.Dir, p.Server.Tools = []string{"/bin/sh", "-s"}, p.Server.ServerDir, s.Tools
	p.Drive = Drive{Kind: DriveBuild, Scripts: s}
	return p
}

// StartingNothing is a copy of the plan of a server that is not there.
func (p Plan) StartingNothing(why session.Gap) Plan {
	p.Drive = Drive{Kind: DriveNone, Why: why}
	return p
}

// Hiding is a copy of the plan that does not show a path below the server's directory.
func (p Plan) Hiding(path string) Plan {
	p.Server.Hidden = []string{path}
	return p
}

// Showing is a copy of the plan that knows what of the host it shows.
func (p Plan) Showing(list []session.Shown) Plan {
	p.Shown = list
	return p
}

// ShowingAs is a copy of the plan with what another one found out: the sandbox, what it shows of
// the host, what the interpreter reads, how the server is spoken to, and the variables that it needs.
func (p Plan) ShowingAs(q Plan) Plan {
	p.Sandbox, p.Server.Hidden, p.Server.Interpreter = q.Sandbox, q.Server.Hidden, q.Server.Interpreter
	p.Server.Transport, p.Server.Guessed, p.Server.Initialize = q.Server.Transport, q.Server.Guessed, q.Server.Initialize
	p.View, p.Shown = q.View, q.Shown
	return p.Supplying(slices.DeleteFunc(slices.Clone(q.Server.MadeUp), func(name string) bool { return slices.Contains(p.Server.MadeUp, name) }))
}

// Introduced is a copy of the plan that begins with initialize.
func (p Plan) Introduced() Plan {
	p.Server.Initialize = true
	return p
}

// WithInterpreter is a copy of the plan that knows what the server's interpreter reads by itself.
func (p Plan) WithInterpreter(rt *session.Runtime) Plan {
	p.Server.Interpreter = rt
	return p
}

// WithBudget is a copy of the plan with another budget.
func (p Plan) WithBudget(b Budget) Plan {
	p.Budget = b
	return p
}

// SpeakingOver speaks to the server over a transport that is no guess.
func (p Plan) SpeakingOver(transport string) Plan {
	p.Server.Transport, p.Server.Guessed = transport, false
	return p
}

// OnNetwork is a copy of the plan in another network.
func (p Plan) OnNetwork(network string) Plan {
	p.Network = network
	return p
}

// WithEveryName is a copy of the plan in which every name resolves.
func (p Plan) WithEveryName() Plan {
	p.EveryName = true
	return p
}

// WithoutHost is a copy of the plan in which a host, and what is below it, does not resolve.
func (p Plan) WithoutHost(host string) Plan {
	p.Missing = append(slices.Clone(p.Missing), host)
	return p
}

// WithClient is a copy of the plan whose client has another name.
func (p Plan) WithClient(c wire.Implementation) Plan {
	p.Identity.Client = c
	return p
}

// WithoutOracles is a copy of the plan without the inputs of oracles.
func (p Plan) WithoutOracles() Plan {
	p.Oracles = nil
	return p
}

// Under is a copy of the plan that says under which condition it is.
func (p Plan) Under(v session.Vary) Plan {
	p.Vary = &v
	return p
}

// Preloading is a copy of the plan for a library that the server must load, "" for none.
func (p Plan) Preloading(name string) Plan {
	p.Preload = name
	return p
}

// Planting is a copy of the plan with more files.
func (p Plan) Planting(files ...rootfs.File) Plan {
	p.Files = slices.Concat(p.Files, files)
	return p
}

// WithLeft is a copy of the plan in which the server finds the files that it left earlier.
func (p Plan) WithLeft(files []rootfs.File) Plan {
	p = p.Planting(files...)
	p.Left = len(files)
	return p
}

// Unset are those of some variables that the server does not have.
func (p Plan) Unset(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(p.Env, func(v Variable) bool { return v.Name == name && v.Value != "" })
	})
}

// Supplying is a copy of the plan in which the server has made-up values of variables. They follow from the
// seed, and are looked for as those are that a user makes up.
func (p Plan) Supplying(names []string) Plan {
	p.Server.Dummies, p.Server.MadeUp = slices.Clone(p.Server.Dummies), slices.Concat(p.Server.MadeUp, names)
	for _, name := range names {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", p.Seed, name))
		value := hex.EncodeToString(sum[:20])
		p = p.With(Variable{Name: name, Value: value})
		p.Server.Dummies = append(p.Server.Dummies, name+"="+value)
	}
	return p
}

// Without is a copy of the plan without some files and variables.
func (p Plan) Without(file func(path string) bool, variable func(Variable) bool) Plan {
	p.Files = slices.DeleteFunc(slices.Clone(p.Files), func(f rootfs.File) bool { return file(f.Path) })
	p.Watch = slices.DeleteFunc(slices.Clone(p.Watch), file)
	p.Env = slices.DeleteFunc(slices.Clone(p.Env), variable)
	return p
}

// WithSecrets is a copy of the plan with decoys of other values: change turns the values of the
// plan's decoys into those.
func (p Plan) WithSecrets(set *canaries.Set, change *strings.Replacer) Plan {
	p.Decoys, p.Files, p.Env = set, slices.Clone(p.Files), slices.Clone(p.Env)
	for i := p.Placed; i < len(p.Files); i++ {
		p.Files[i].Data = []byte(change.Replace(string(p.Files[i].Data)))
	}
	for i := range p.Env {
		p.Env[i].Value = change.Replace(p.Env[i].Value)
	}
	return p
}

// RunOf is a copy of the plan for the run of another one.
func (p Plan) RunOf(q Plan) Plan {
	p.RunID, p.Experiment = q.RunID, q.Experiment
	return p
}

// DrivenAs is a copy of the plan for the run of another one, under its condition and with its
// budget. Its calls name the plan's own HOME.
func (p Plan) DrivenAs(q Plan) Plan {
	p = p.RunOf(q)
	hints := p.Drive.Hints
	p.Vary, p.Budget, p.Drive = q.Vary, q.Budget, q.Drive
	p.Drive.Hints, p.Drive.Steps = hints, slices.Clone(q.Drive.Steps)
	for i := range p.Drive.Steps {
		p.Drive.Steps[i].Args = bytes.ReplaceAll(p.Drive.Steps[i].Args, []byte(q.Identity.Home), []byte(p.Identity.Home))
	}
	return p
}

// shortIdle is how long a server is watched after a trial of calls.
const shortIdle = 150 * time.Millisecond

// Playing is a copy of the plan that makes the steps given in place of a drive, with
// a short watch at the end: many such runs are made for one answer.
func (p Plan) Playing(steps []synth.Step) Plan {
	p.Drive.Kind, p.Drive.Steps, p.Drive.Collect = DrivePlay, steps, false
	p.Budget.Idle = min(shortIdle, p.Budget.Idle)
	return p
}

// Repeating is a copy of the plan that makes the steps given without a listing and a wait after each.
func (p Plan) Repeating(steps []synth.Step) Plan {
	p.Drive.Kind, p.Drive.Steps, p.Drive.Quick = DrivePlay, steps, true
	return p
}

// EndingByTerm is a copy of the plan that ends the server with a signal.
func (p Plan) EndingByTerm() Plan {
	p.Drive.ByTerm = true
	return p
}

// Collecting is a copy of the plan that takes along the files that the server leaves, or does not.
func (p Plan) Collecting(yes bool) Plan {
	p.Drive.Collect = yes
	return p
}

// Skipping is a copy of the plan that does not call some more tools.
func (p Plan) Skipping(tools ...string) Plan {
	p.Drive.Skip = slices.Concat(p.Drive.Skip, tools)
	return p
}

// OnlyCalling is a copy of the plan that calls one tool, and never with the arguments given.
func (p Plan) OnlyCalling(tool string, avoid []json.RawMessage) Plan {
	p.Drive.Only, p.Drive.Avoid = tool, avoid
	return p
}

// Recording is a copy of the plan that takes along what the server's processes write to a directory.
func (p Plan) Recording(dir string) Plan {
	p.Drive.Record = dir
	return p
}

// GuidedBy is a copy of the plan that varies its calls.
func (p Plan) GuidedBy(g Guide) Plan {
	p.Drive.Guide = g
	return p
}

// AwaitingTimers is a copy of the plan in which a wait for a moment that is further away is a gap.
func (p Plan) AwaitingTimers(far time.Duration) Plan {
	p.Drive.Far = far
	return p
}
