//go:build linux && e2e

package probetest

import (
	"context"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// shortIdle is how long a fixture is watched after its last call.
const shortIdle = 150 * time.Millisecond

// Request is what a test asks for: a user's wishes, and what no user can ask for.
type Request struct {
	plan.Options
	// Driver makes the calls in place of a drive.
	Driver run.Driver
	// RingSize is the size of eBPF's buffer, in bytes.
	RingSize int
	// FastIdle is how long a server is watched on a fast clock.
	FastIdle time.Duration
	// Cover records which code runs also where none of it could do harm.
	Cover bool
	// Rounds is how often a condition is tried.
	Rounds int
	// Alone has the server left alone on a fast clock once more.
	Alone bool
}

// Run probes as a request asks.
func Run(ctx context.Context, r Request) (*probe.Outcome, error) {
	if r.Driver != nil {
		r.Jobs = 1 // the test's driver is one
	}
	return probe.RunWith(ctx, r.Options, probe.Seams{Driver: r.Driver, Ring: r.RingSize, Cover: r.Cover, Further: experiment.Seams{VaryRounds: r.Rounds, FastIdle: r.FastIdle, Attended: !r.Alone}})
}

// OfCommand asks for a command in a sandbox.
func OfCommand(sandbox, out, agentPath string, command ...string) Request {
	var r Request
	r.Command, r.Sandbox, r.Seed, r.Out, r.AgentPath = command, sandbox, 1, out, agentPath
	return r
}

// OfPackage asks for a package, with changes.
func OfPackage(s *install.Spec, changes ...func(*Request)) Request {
	var r Request
	r.Package = s
	for _, c := range changes {
		c(&r)
	}
	return r
}

// WithoutBuild leaves out the scripts of the installation.
func WithoutBuild(r *Request) { r.NoBuild = true }

// In names the sandbox, the directory of the files and the cache.
func In(sandbox, out, cache string) func(*Request) {
	return func(r *Request) { r.Sandbox, r.Out, r.Cache = sandbox, out, cache }
}
