package plan

import (
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

// Options are a user's wishes: what to probe, where, how much, and how to judge it.
// The zero value of a field is its default.
type Options struct {
	Target
	Surroundings
	Budget
	Judging
	// Seed draws all inputs.
	Seed int64
	// Vary are the factors under which the server runs again, of "client", "ci",
	// "clock", "locale" and "canaries".
	Vary []string
	// Replay are calls to be made instead of a drive, nil for none.
	Replay *synth.Replay
	// Jobs bounds the runs that are made side by side; 0 is one for each processor.
	Jobs int
	// Out is the directory below which the target's own is made.
	Out string
	// Progress takes one line about each step, nil for none. It is called from one
	// goroutine at a time.
	Progress func(line string)
	// Found takes a line about each finding as soon as a run shows it, nil for none. Later runs may take
	// one back. It may be called beside Progress.
	Found func(line string)
}

// Target is the server that is probed.
type Target struct {
	// Command is the server's argument vector; Package, if not nil, is fetched
	// and started with Args in its place.
	Command []string
	Package *install.Spec
	Args    []string
	// Dir is the host's directory that a command, or a checkout's program, starts in, "" for
	// the workspace that is planted.
	Dir string
	// Entrypoint takes the place of an image's own, Places are directories that it
	// is to find, Vars "NAME=VALUE" what its command line gives it.
	Entrypoint   string
	Places, Vars []string
	// NoBuild leaves the package's own scripts out; Cache is where packages are
	// kept, "" for the user's cache directory.
	NoBuild bool
	Cache   string
	// AsOf is the moment whose dependencies a package gets, as install.ParseAsOf reads it; "" is
	// today, and that of the release for a package that does not start so.
	AsOf string
	// AsOfWhy is session.Package's, "" for AsOfAsked.
	AsOfWhy string
	// Offline asks no registry: all that is fetched is in the cache. Keep puts there all that another
	// machine needs for that.
	Offline, Keep bool
	// Remote is a server that is reached by its address, nil for a command or a package.
	Remote *Remote
	// Name is the server's name in a client's configuration, "" for a bare command.
	Name string
	// Location is the configuration's entry, nil for a bare command.
	Location *finding.Location
	// Sandboxed is what the client's configuration confines the server to, nil for nothing.
	Sandboxed *config.Sandbox
	// Transport is TransportAuto, TransportStdio, TransportHTTP or TransportSSE.
	Transport string
	// Unaudited leaves the audit of the server's source out.
	Unaudited bool
	// Within is the directory, without links, whose configuration names the command: the
	// command leads nowhere else on the host, and of a repository what git tracks is shown.
	// "" says that the command is the user's own.
	Within string
	// Show are paths that the user shows all the same.
	Show []string
}

// Surroundings are what a server finds around it.
type Surroundings struct {
	// Sandbox is "auto", "docker", "local" or "inplace".
	Sandbox string
	Image   string
	Runtime string
	// Tracer is TracerAuto, "ebpf", "strace", TracerBoth or "none".
	Tracer string
	// Network is one of the Network constants, NetworkAllow with hosts after it.
	Network string
	// Services are the real services that run beside the server, by their names; ServiceImage is
	// the image that they run in with the docker sandbox, "" for the server's default one.
	Services     []string
	ServiceImage string
	// Replies are the user's own answers of HTTP, before the sinkhole's.
	Replies []sinkhole.Reply
	// Env are the variables that a client's configuration names for the server.
	Env map[string]string
	// Dummies are variables with values that are no secrets: of the keys and settings
	// without which the server does nothing. They go before Env.
	Dummies map[string]string
	// PassEnv are names whose real values the server gets; they are redacted in every file.
	PassEnv []string
	// NoTLSProbes sets no probes in TLS libraries, which the server could see.
	NoTLSProbes bool
	// AllowUserNS lets the server make user namespaces, for the sandboxes of browsers.
	AllowUserNS bool
	Limits      agent.Limits
	// AgentPath is the program that becomes PID 1; "" is this one.
	AgentPath string
}

// Judging is what the verdict depends on beside what was seen.
type Judging struct {
	FailOn finding.Severity
	// Policy is the user's coalmine.yaml, nil for none.
	Policy *policy.Policy
	// PolicyRules are the files of rules that Policy names, and Rules those that were named
	// beside it.
	PolicyRules, Rules []analyze.File
	// Baseline are the findings that were known before, nil for none.
	Baseline *analyze.Baseline
	// Changed are files by which the run would be judged and that the change under
	// review has otherwise.
	Changed []rules.Changed
	// Since names the directory of an earlier probe, "" for none; Lock is a lock's file, nil for none.
	Since string
	Lock  *analyze.File
	// Least asks for the result's least policy.
	Least bool
	// TextJudge is the user's own program, with its arguments, that judges what the
	// server says, nil for none.
	TextJudge []string
	// Version is the program's.
	Version string
}

// TracerAuto is eBPF where this machine allows it and the sandbox is under its
// kernel, and strace elsewhere.
const TracerAuto = "auto"

// TracerBoth runs the server under eBPF and then under strace, and compares the two.
const TracerBoth = "both"

// TracerNone watches no system call.
const TracerNone = "none"

// The ways in which a server is spoken to.
const (
	// TransportAuto is stdio, and HTTP where the server listens on a port in place of it.
	TransportAuto = "auto"
	// TransportStdio is the server's stdin and stdout.
	TransportStdio = "stdio"
	// TransportHTTP is Streamable HTTP, on a port that the server opens inside the sandbox.
	TransportHTTP = "http"
	// TransportSSE is the older HTTP with a stream of events.
	TransportSSE = "sse"
)

// The defaults.
const (
	DefaultCalls       = 8
	DefaultTimeout     = 5 * time.Minute
	DefaultCallTimeout = 15 * time.Second
	DefaultIdle        = time.Second
	DefaultOut         = "coalmine-out"
	// DefaultShrinkTime bounds the shrinking of all findings of a run together.
	DefaultShrinkTime = 30 * time.Second
)

// DefaultLimits bound a server generously: Node alone takes some 100 MB.
var DefaultLimits = agent.Limits{
	Memory: 2 << 30, Pids: 512, CPU: 4 * time.Minute, Output: 256 << 20, File: 512 << 20, Disk: 512 << 20,
}

// FirstTransport is how the server is spoken to first.
func (o *Options) FirstTransport() string {
	if o.Transport == TransportAuto {
		return TransportStdio
	}
	return o.Transport
}

// Fill replaces zero values by their defaults.
func (o *Options) Fill() {
	text := func(p *string, value string) {
		if *p == "" {
			*p = value
		}
	}
	text(&o.Sandbox, "auto")
	text(&o.Tracer, TracerAuto)
	text(&o.Network, NetworkSinkhole)
	text(&o.Out, DefaultOut)
	text(&o.Transport, TransportAuto)
	o.fillBudget()
	if o.Limits == (agent.Limits{}) {
		o.Limits = DefaultLimits
	}
	o.Limits.Wall = o.Timeout + 30*time.Second
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
}
