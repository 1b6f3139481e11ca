package plantest

import (
	"cmp"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// first is one plan with decoys, for whose keys a computer takes a while.
var first = sync.OnceValues(func() (plan.Plan, error) { return New(plan.Account{}) })

// New makes the plan of a scripted server with decoys for an account.
func New(as plan.Account) (plan.Plan, error) {
	o := plan.Options{Target: plan.Target{Command: []string{"/bin/true"}}, Surroundings: plan.Surroundings{Tracer: sandbox.TracerEBPF}, Seed: 1}
	o.Budget = plan.Budget{Calls: 2, Timeout: time.Minute, CallTimeout: 5 * time.Second}
	o.Fill()
	p, err := plan.New(o, nil, as)
	return p.In("local"), err
}

// Plan is the plan of a scripted server's declared run, watched and in the local sandbox. All
// plans of one test program have the same decoys.
func Plan(t testing.TB) plan.Plan {
	t.Helper()
	p, err := first()
	if err == nil {
		p, err = p.For("declared")
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Recorded is the plan by which a recorded run is made again: with its surroundings and its
// decoys, and the calls that are known of it.
func Recorded(h session.Header, steps []synth.Step) plan.Plan {
	p := plan.Plan{
		Schema: plan.Schema, RunID: h.RunID, Experiment: cmp.Or(h.Experiment, "declared"), Target: h.Target, Package: h.Package, Seed: h.Seed, Version: h.Version,
		Server: plan.Server{
			Command: h.Command, Transport: plan.TransportStdio, Dir: h.Home, ServerDir: h.ServerDir, Start: h.Start,
			Workspaces: h.Workspaces, Rooted: h.Rooted, Dummies: h.Dummies, Manifests: h.Manifests, Interpreter: h.Runtime,
		},
		Identity: plan.Identity{User: h.User, Home: h.Home, Hostname: "recorded"},
		Budget:   plan.Budget{Calls: plan.DefaultCalls, Timeout: plan.DefaultTimeout, CallTimeout: plan.DefaultCallTimeout, Idle: plan.DefaultIdle, ShrinkTime: plan.DefaultShrinkTime},
		Drive:    plan.Drive{Kind: plan.DrivePlay, Steps: steps},
		Tracer:   h.Tracer, Network: h.Network, Vary: h.Vary, Decoys: canaries.FromCanaries(h.Canaries),
	}
	files := func(names []string) (out []rootfs.File) {
		for _, name := range names {
			out = append(out, rootfs.File{Path: name})
		}
		return out
	}
	return p.Planting(files(h.Planted)...).WithLeft(files(h.Left))
}
