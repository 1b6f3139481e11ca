package probe

import (
	"context"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth"
)

// Options say what to probe and how. The zero value of a field is its default.
type Options struct {
	// Command is the server's argument vector; Package, if not nil, is fetched
	// and started with Args in its place.
	Command []string
	Package *install.Spec
	Args    []string
	// Entrypoint takes the place of an image's own, Places are directories that it
	// is to find, Vars "NAME=VALUE" what its command line gives it.
	Entrypoint   string
	Places, Vars []string
	// NoBuild leaves the package's own scripts out; Cache is where packages are
	// kept, "" for the user's cache directory.
	NoBuild bool
	Cache   string
	// Env are the variables that a client's configuration names for the server.
	Env map[string]string
	// Dummies are variables with values that are no secrets: of the keys and settings
	// without which the server does nothing. They go before Env.
	Dummies map[string]string
	// Sandboxed is what the client's configuration confines the server to, nil for nothing.
	Sandboxed *config.Sandbox
	// PassEnv are names whose real values the server gets; they are redacted in every file.
	PassEnv []string
	// Name is the server's name in that configuration, "" for a bare command.
	Name string
	// Location is the configuration's entry, nil for a bare command.
	Location *finding.Location

	// Sandbox is "auto", "docker" or "local".
	Sandbox string
	Image   string
	Runtime string
	// Tracer is TracerAuto, "ebpf", "strace", TracerBoth or "none".
	Tracer string
	// Network is one of the Network constants, NetworkAllow with hosts after it.
	Network string
	// Replies are the user's own answers of HTTP, before the sinkhole's.
	Replies []sinkhole.Reply
	// Transport is TransportStdio, TransportHTTP or TransportSSE.
	Transport string
	Seed      int64
	// Calls is the number of calls of each tool.
	Calls       int
	Timeout     time.Duration
	CallTimeout time.Duration
	// OracleTime bounds the calls that carry oracles' inputs.
	OracleTime time.Duration
	// ShrinkTime bounds what goes into making findings small and replayable.
	ShrinkTime time.Duration
	// Vary are the factors under which the server runs again, of "client", "ci",
	// "clock", "locale" and "canaries".
	Vary []string
	// Idle is how long the server is watched after its last call.
	Idle time.Duration
	// Replay are calls to be made instead of a drive, nil for none.
	Replay *synth.Replay
	Limits agent.Limits
	// Out is the directory below which the run's own is made.
	Out    string
	FailOn finding.Severity
	// Policy is the user's coalmine.yaml, nil for none.
	Policy *policy.Policy
	// Baseline are the findings that were known before, nil for none.
	Baseline *analyze.Baseline
	// Changed are files by which the run would be judged and that the change under
	// review has otherwise.
	Changed []rules.Changed
	// Least asks for the result's least policy.
	Least bool
	// AgentPath is the program that becomes PID 1; "" is this one.
	AgentPath string
	// Version is the program's.
	Version string
	// as is for whom the decoys are made, drawn where it is empty.
	as account
	// exact makes the calls in place of the driver.
	exact func(context.Context, *conversation) error
	// fastIdle is Idle for the run on a fast clock, 0 for the usual.
	fastIdle time.Duration
	// rounds is varyRounds, 0 for the usual.
	rounds int
	// ring is the size of eBPF's buffer, 0 for the usual.
	ring int
	// sourceless leaves the audit of the server's source out.
	sourceless bool
	// Progress takes one line about each step, nil for none.
	Progress func(line string)
}

// TracerAuto is eBPF where this machine allows it and the sandbox is under its
// kernel, and strace elsewhere.
const TracerAuto = "auto"

// TracerBoth runs the server under eBPF and then under strace, and compares the two.
const TracerBoth = "both"

// The networks that a server may find.
const (
	// NetworkSinkhole: every address answers, what is sent is kept, nothing leaves.
	NetworkSinkhole = "sinkhole"
	// NetworkRefuse: names resolve, and every connection is refused.
	NetworkRefuse = "refuse"
	// NetworkLoopback is a sinkhole that answers on the loopback address too, where
	// nothing of the server's listens. After a run in the plain one that tried such
	// an address the server is started once more in this.
	NetworkLoopback = "loopback"
	// NetworkNone: there is no address but the loopback's.
	NetworkNone = "none"
	// NetworkAllow and names with commas between: those hosts are really reached,
	// by this process, and all else is the sinkhole's, or NetworkLoopback's where
	// that and a comma stand before it.
	NetworkAllow = "allow="
)

// The defaults.
const (
	DefaultCalls       = 8
	DefaultTimeout     = 5 * time.Minute
	DefaultCallTimeout = 15 * time.Second
	DefaultIdle        = time.Second
	DefaultOut         = "coalmine-out"
)

// defaultLimits bound a server generously: Node alone takes some 100 MB.
var defaultLimits = agent.Limits{
	Memory: 2 << 30, Pids: 512, CPU: 4 * time.Minute, Output: 256 << 20, File: 512 << 20, Disk: 512 << 20,
}

func (o *Options) fill() {
	if o.Sandbox == "" {
		o.Sandbox = "auto"
	}
	if o.Tracer == "" {
		o.Tracer = TracerAuto
	}
	if o.Transport == "" || o.Transport == "auto" {
		o.Transport = TransportStdio
	}
	if o.Network == "" {
		o.Network = NetworkSinkhole
	}
	if o.Calls <= 0 {
		o.Calls = DefaultCalls
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = DefaultCallTimeout
	}
	if o.OracleTime <= 0 {
		o.OracleTime = synth.DefaultOracleTime
	}
	if o.ShrinkTime <= 0 {
		o.ShrinkTime = DefaultShrinkTime
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Out == "" {
		o.Out = DefaultOut
	}
	if o.Limits == (agent.Limits{}) {
		o.Limits = defaultLimits
	}
	o.Limits.Wall = o.Timeout + 30*time.Second
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
}
