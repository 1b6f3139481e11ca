package sandbox

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/reached"
)

// Spec says what to run and in what surroundings. It names no backend.
type Spec struct {
	// Command is the target's argument vector.
	Command []string
	// Tools are programs that it will start, by name or path: a sandbox that shows
	// what Command takes of this machine shows what they take, where they are there.
	Tools []string
	// Dir is its working directory inside the sandbox.
	Dir string
	// Env is its whole environment; nothing of the host's is added.
	Env      []string
	User     agent.User
	Hostname string
	// Files are planted, Watch are the absolute paths to be watched.
	Files []rootfs.File
	Watch []string
	// Canaries are looked for in what is sent and in files that Search names.
	Canaries []canaries.Canary
	// Compare has the files in the HOME of User and in Workspaces, except ServerDir's,
	// compared with what they were when the target has ended: how they differ are events.
	Compare bool
	// Await has the sandbox stay for at most half a minute when the target has ended by
	// itself, until it is stopped: what the target left can still be asked for.
	Await bool
	// ServerDir is the host directory shown at the same path: the target may
	// write there, the host never sees it. "" shows none.
	ServerDir string
	// ServerFrom is the host directory that is shown at ServerDir where it is
	// another; its path is not seen inside.
	ServerFrom string
	// Hidden are paths below ServerDir that are not shown: what earlier runs wrote there.
	Hidden []string
	// View is what is shown of the server's directory; with nil the backend looks.
	View *shown.View
	// Bounds are where the command may lead on the host.
	Bounds shown.Bounds
	// Workspaces are absolute paths created as directories of the target's.
	Workspaces []string
	// Image and Runtime are for the docker backend.
	Image   string
	Runtime string
	// Network is the sinkhole that answers the target, nil for none.
	Network *agent.Network
	// Carry takes each connection that the target makes to CarrierPort of its
	// loopback, and closes it in the end; it may return before. nil takes none. It must
	// believe nothing of what comes.
	Carry func(net.Conn)
	// Services reach the real services that Network names, by their names. They may be
	// called from many goroutines, and whoever gets a connection closes it.
	Services map[string]func(context.Context) (net.Conn, error)
	// Shown are directories of the host that are shown read-only at the same path. Only
	// the local backend shows them.
	Shown []string
	// TraceSet is one of package trace's sets, "" for no tracer.
	TraceSet string
	// Tracer is TracerStrace, which "" is too, or TracerEBPF.
	Tracer string
	// Ring is the size in bytes of eBPF's buffer, a power of two; 0 is the usual one.
	Ring   int
	Limits agent.Limits
	// NoTLSProbes has the eBPF tracer set no probes in TLS libraries: a target that looks at
	// its own memory sees them.
	NoTLSProbes bool
	// Places are those of the target's program of which Run.Came tells, nil for none. Only
	// the eBPF tracer watches them.
	Places *reached.Places
	// AllowUserNS lets the target make user namespaces.
	AllowUserNS bool
	// AgentPath is the static binary that becomes PID 1; "" is this executable.
	AgentPath string
	// RunID is random and names what the backend makes.
	RunID string
}

// CarrierPort is the port of the sandbox's loopback that leads to Spec.Carry.
const CarrierPort = 3128

// The tracers. strace runs inside the sandbox; eBPF watches from the host, and
// only a Conn that is an AgentProcess can be watched so.
const (
	TracerStrace = "strace"
	TracerEBPF   = "ebpf"
)

// Straced reports whether strace has to be in the sandbox.
func (s *Spec) Straced() bool { return s.TraceSet != "" && s.Tracer != TracerEBPF }

// AgentProcess is a Conn that knows which of this machine's processes the agent is.
type AgentProcess interface {
	// AgentPID is the agent's number among this machine's processes, as this
	// process sees them. It fails where the sandbox is under another kernel.
	AgentPID(ctx context.Context) (int, error)
}

// Tracer watches a target from outside of its sandbox.
type Tracer interface {
	// Start has the records flow, now that the target's first task is known. Where refused
	// is set, calls that a filter answered are among them. emit and lose are called one at a time.
	Start(target int, refused bool, emit func(*trace.Record), lose func(n uint64, why string))
	// Drain returns when what was seen so far is emitted.
	Drain(ctx context.Context) error
	// Alive says why the tracer does not watch any more, nil where it does.
	Alive() error
	// Close emits the last records, and detaches the tracer.
	Close()
}

// Traced is a Conn that brings its sandbox's tracer along; it takes the place of each that a
// Spec asks for.
type Traced interface{ Tracer() Tracer }

// HostKernel is a Backend whose sandboxes may be under this machine's kernel.
type HostKernel interface {
	// SharesHostKernel says whether they are, and so can be watched from outside.
	SharesHostKernel(ctx context.Context) Support
}

// Shower is a Backend that can say what of this machine's files a Spec would show.
type Shower interface {
	// Shows lists them, and starts nothing. Errors that the user can mend are *UsageError.
	Shows(ctx context.Context, spec Spec) ([]session.Shown, error)
}

// Tri is an answer that may be unknown.
type Tri string

// The three answers.
const (
	Yes     Tri = "yes"
	No      Tri = "no"
	Unknown Tri = "unknown"
)

// Support says whether something works here, and what would make it work.
type Support struct {
	OK     Tri
	Reason string
	Hint   string
}

// Backend makes sandboxes.
type Backend interface {
	// Name is "docker" or "local".
	Name() string
	// Supported finds out without side effects that outlive it.
	Supported(ctx context.Context) Support
	// Start makes the sandbox with the agent in it, waiting for its Config.
	// Errors that the user can mend are *UsageError.
	Start(ctx context.Context, spec Spec) (Conn, error)
}

// Conn is the byte stream to an agent, and the sandbox around it.
type Conn interface {
	io.Reader
	io.Writer
	// Config adds what only the backend knows: the root, strace's place, uids.
	Config(*agent.Config)
	// Diagnostics is the tail of what the agent itself printed, at most 64 KiB.
	Diagnostics() string
	// Close kills everything in the sandbox and removes all of it. It may be
	// called more than once and from any goroutine.
	Close(ctx context.Context) error
}

// Sink takes what a run yields, one call at a time, in the order of the agent's stream.
// Records of eBPF come between the events beside which they happened.
// Byte slices are valid until the call returns.
type Sink interface {
	Stdout(stamp time.Duration, p []byte)
	Stderr(stamp time.Duration, p []byte)
	Record(r *trace.Record)
	// Flow is what the sinkhole saw; its Data is valid until the call returns.
	Flow(f *trace.Flow)
	Event(e session.Event)
	// TraceError is a line of the tracer that was not understood, or what a *LossError counts.
	TraceError(err error)
}

// LossError is what a tracer knows that it has missed.
type LossError struct {
	N   uint64 // how many observations
	Why string
}

// Error implements error.
func (e *LossError) Error() string { return e.Why }

// Exit is how the target ended.
type Exit struct {
	Code   int
	Signal string
	// TracerDied says that the end was not watched.
	TracerDied bool
	// Reason is set when the agent could not start the target or a limit ended it.
	Reason string
}

// UsageError is a failure that the user can mend: exit status 2.
type UsageError struct {
	Err  error
	Hint string
}

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap implements errors.Unwrap.
func (e *UsageError) Unwrap() error { return e.Err }
