package session

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
)

// The files of a run.
const (
	FramesFile = "session.jsonl"
	TraceFile  = "trace.jsonl"
)

// Schema is the trace file's own version.
const Schema = "coalmine/trace/v1"

// Dir is a frame's direction.
type Dir string

// The directions: client to server, and back.
const (
	C2S Dir = "c2s"
	S2C Dir = "s2c"
)

// MachineID is what stands in /etc/machine-id (machine-id(5)) of a sandbox that makes up its own.
func MachineID(run string) string {
	id := sha256.Sum256([]byte(run))
	return hex.EncodeToString(id[:16])
}

// Header is the first line of trace.jsonl: what the run was.
type Header struct {
	// Schema is set by Create.
	Schema string `json:"schema"`
	RunID  string `json:"run"`
	// Started is the wall clock when the run's clock stood at Clock0.
	Started time.Time     `json:"started"`
	Clock0  time.Duration `json:"clock0"`
	Seed    int64         `json:"seed"`
	Command []string      `json:"command"`
	Target  string        `json:"target"`
	Sandbox string        `json:"sandbox"`
	Tracer  string        `json:"tracer"`
	Network string        `json:"network"`
	// Services are the real services beside the server.
	Services []string `json:"services,omitempty"`
	// Transport is "http" or "sse", "" for stdio.
	Transport string `json:"transport,omitempty"`
	// Canaries are the decoys planted, with their values: the file is the key.
	Canaries   []canaries.Canary `json:"canaries"`
	User       string            `json:"user"`
	Home       string            `json:"home"`
	ServerDir  string            `json:"serverDir,omitempty"`
	Workspaces []string          `json:"workspaces,omitempty"`
	// Planted are the files of the user's that stood below Home and Workspaces before
	// the server started, decoys among them.
	Planted []string `json:"planted,omitempty"`
	// Documents are of text files of the user's below Home a line each, by which their contents are told.
	Documents []Document `json:"documents,omitempty"`
	// Left are the files that an earlier run of the same server left, and stood there
	// before this one.
	Left []string `json:"left,omitempty"`
	// Literals are texts of the server's own source that its tools were given: it has them from itself.
	Literals []string `json:"literals,omitempty"`
	// Start is the host's directory that the server was told to start in, "" for the first
	// of Workspaces.
	Start string `json:"start,omitempty"`
	// Rooted says that the command itself names the workspaces.
	Rooted bool `json:"rooted,omitempty"`
	// Unseen names what the sandbox keeps even the tracer from seeing.
	Unseen []string `json:"unseen,omitempty"`
	// Image and ContainerRuntime are those that the user chose for the container, "" for the usual ones.
	Image            string `json:"image,omitempty"`
	ContainerRuntime string `json:"containerRuntime,omitempty"`
	// AllowUserNS says that the server could make user namespaces.
	AllowUserNS bool `json:"allowUserNamespaces,omitempty"`
	// Manifests are files beside the server that say something of it.
	Manifests []Manifest `json:"manifests,omitempty"`
	// Experiment is the name of the experiment that made the run, "" for the run as declared.
	Experiment string `json:"experiment,omitempty"`
	// Phase is PhaseBuild in the log of a build, "" in a server's.
	Phase string `json:"phase,omitempty"`
	// Package is what was fetched to be run, nil for a command that was there.
	Package *Package `json:"package,omitempty"`
	// Dummies are the variables that the server was given values for, NAME=VALUE.
	Dummies []string `json:"dummies,omitempty"`
	// MadeUp are the names of those of Dummies whose values nobody gave.
	MadeUp []string `json:"made_up,omitempty"`
	// Unredacted says of which variables the real values may stand in the log, and why.
	Unredacted []string `json:"unredacted,omitempty"`
	// Vary says what of a run's surroundings was changed, nil for nothing.
	Vary *Vary `json:"vary,omitempty"`
	// Runtime is what the server's interpreter does by itself, nil where it is unknown.
	Runtime *Runtime `json:"runtime,omitempty"`
	// Remote is the server's address, nil for a server that ran in a sandbox.
	Remote *Remote `json:"remote,omitempty"`
	// Version is coalmine's.
	Version string `json:"version"`
}

// Document is a text file of the user's.
type Document struct {
	Path string `json:"path"`
	// Line stands in it, without the blanks around it.
	Line string `json:"line"`
}

// Runtime is an interpreter that was started with nothing to do, in the same
// sandbox and image as the server.
type Runtime struct {
	// Program is the path by which it was run.
	Program string `json:"program"`
	// Reads are the paths that it opened for reading, or tried to, in order.
	Reads []string `json:"reads"`
}

// Vary is a condition under which a server runs again with the same calls.
type Vary struct {
	// Factor is "client", "ci", "clock", "locale", "canaries", "secrets", "network", "host", or "" for a run in
	// unchanged surroundings that the others are compared with.
	Factor string `json:"factor"`
	// How says what was changed ("with CI=true").
	How string `json:"how"`
	// Added says that the condition takes something away, or only waits: what the
	// server does less under it means nothing.
	Added bool `json:"added,omitempty"`
}

// Manifest is a file that says something of a server.
type Manifest struct {
	// File is its name in the server's directory.
	File string `json:"file"`
	Text string `json:"text"`
}
