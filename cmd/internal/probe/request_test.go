//go:build linux && e2e

package probe

import (
	"context"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// shortIdle is how long a fixture is watched after its last call.
const shortIdle = 150 * time.Millisecond

// request is what a test asks for: a user's wishes, and what no user can ask for.
type request struct {
	plan.Options
	// driver makes the calls in place of a drive.
	driver run.Driver
	// ringSize is the size of eBPF's buffer, in bytes.
	ringSize int
	// fastIdle is how long a server is watched on a fast clock, rounds how often a
	// condition is tried.
	fastIdle time.Duration
	rounds   int
}

// runRequest probes as a request asks.
func runRequest(ctx context.Context, r request) (*Outcome, error) {
	if r.driver != nil {
		r.Jobs = 1 // the test's driver is one
	}
	return runWith(ctx, r.Options, seams{driver: r.driver, ring: r.ringSize, scheduler: func(l *experiment.Scheduler, c *experiment.Case) {
		l.Rounds, c.FastIdle = r.rounds, r.fastIdle
	}})
}

// ofCommand asks for a command in a sandbox.
func ofCommand(sandbox, out, agentPath string, command ...string) request {
	var r request
	r.Command, r.Sandbox, r.Seed, r.Out, r.AgentPath = command, sandbox, 1, out, agentPath
	return r
}

// ofPackage asks for a package, with changes.
func ofPackage(s *install.Spec, changes ...func(*request)) request {
	var r request
	r.Package = s
	for _, c := range changes {
		c(&r)
	}
	return r
}

func withoutBuild(r *request) { r.NoBuild = true }

// in names the sandbox, the directory of the files and the cache.
func in(sandbox, out, cache string) func(*request) {
	return func(r *request) { r.Sandbox, r.Out, r.Cache = sandbox, out, cache }
}
