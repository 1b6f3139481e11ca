package session

import (
	"encoding/json"
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
	// Transport is "http" or "sse", "" for stdio.
	Transport string `json:"transport,omitempty"`
	// Canaries are the decoys planted, with their values: the file is the key.
	Canaries   []canaries.Canary `json:"canaries"`
	User       string            `json:"user"`
	Home       string            `json:"home"`
	ServerDir  string            `json:"serverDir,omitempty"`
	Workspaces []string          `json:"workspaces,omitempty"`
	// Rooted says that the command itself names the workspaces.
	Rooted bool `json:"rooted,omitempty"`
	// Unseen names what the sandbox keeps even the tracer from seeing.
	Unseen []string `json:"unseen,omitempty"`
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
	// Vary says what of a run's surroundings was changed, nil for nothing.
	Vary *Vary `json:"vary,omitempty"`
	// Runtime is what the server's interpreter does by itself, nil where nothing is known of it.
	Runtime *Runtime `json:"runtime,omitempty"`
	// Version is coalmine's.
	Version string `json:"version"`
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
	// Factor is "client", "ci", "clock", "locale", "canaries", or "" for a run in
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

// The kinds of a Mark.
const (
	MarkPhase        = "phase"        // Phase starts
	MarkCall         = "call"         // Call begins: Tool, What is tool|resource|prompt|completion; N is the call that it repeats word for word
	MarkReturn       = "return"       // Call ended: What is ok|iserror|error|timeout|crash
	MarkFrame        = "frame"        // written by Log.Frame: Seq of session.jsonl crossed at Time
	MarkEvent        = "event"        // Event is the agent's, verbatim
	MarkStderr       = "stderr"       // Text or Data is what the server printed
	MarkBadLine      = "bad-line"     // written by Log.Frame: Seq of session.jsonl is no JSON
	MarkInconclusive = "inconclusive" // Text is a reason
	MarkLoss         = "loss"         // N things were not recorded, What says which
	MarkReached      = "reached"      // Event is what the host process reached, or tried to, for the server
	MarkInputs       = "inputs"       // Event is an Inputs: what the arguments of Tool reached; What is as in a call
)

// Reached is how many of what there is were reached.
type Reached struct {
	Reached int `json:"reached"`
	Total   int `json:"total"`
}

// Inputs is what the arguments given to one tool have reached of its schema.
type Inputs struct {
	// Classes counts the calls by what kind of arguments they had.
	Classes map[string]int `json:"classes"`
	// Enums are the members of all enums; Branches those of anyOf, oneOf, if and
	// dependent schemas; Optional counts each optional property twice, present
	// and absent; Pairs are pairs of values of two parameters.
	Enums    Reached `json:"enums"`
	Branches Reached `json:"branches"`
	Optional Reached `json:"optional"`
	Pairs    Reached `json:"pairs"`
	// Oracles are the oracles' inputs that were tried.
	Oracles Reached `json:"oracles,omitzero"`
	// Listed are the calls, of all kinds, after which the surface was listed again:
	// where that takes too much of the time, it is left out now and then.
	Listed Reached `json:"listed,omitzero"`
}

// EventPort is the type of an Event that is the run's own: the server is spoken
// to over the port N, which it has opened inside the sandbox.
const EventPort = "port"

// Mark is one fact about the run that is neither a frame nor a system call.
type Mark struct {
	Time  time.Duration   `json:"t"`
	Kind  string          `json:"kind"`
	Phase string          `json:"phase,omitempty"`
	Call  int             `json:"call,omitempty"`
	Tool  string          `json:"tool,omitempty"`
	What  string          `json:"what,omitempty"`
	Seq   uint64          `json:"seq,omitempty"`
	Text  string          `json:"text,omitempty"`
	N     int64           `json:"n,omitempty"`
	Event json.RawMessage `json:"event,omitempty"`
	// Data holds bytes that no JSON string can: a bad line that is not UTF-8, or
	// what was printed and is none.
	Data []byte `json:"data,omitempty"`
	// Oracles are what a call's arguments carry to be proven by an effect.
	Oracles []Injection `json:"oracles,omitempty"`
}

// The oracles of an Injection.
const (
	OracleCommand   = "command"   // a shell runs what the argument holds
	OracleArgument  = "argument"  // a program takes the argument for an option
	OraclePath      = "path"      // a path leads out of the server's root
	OracleFetch     = "fetch"     // an address is asked for that the caller chose
	OracleCode      = "code"      // an interpreter or a loader runs what the argument holds
	OracleTool      = "tool"      // a tool that was never declared
	OracleControl   = "control"   // a tool that no server can have: how it refuses
	OraclePrototype = "prototype" // a key that changes every object
)

// Injection is what an oracle put into a call, and the effect that would prove
// that the server fell for it. That an answer echoes the input proves nothing.
type Injection struct {
	Oracle string `json:"oracle"`
	// Context names the variant: "semicolon", "dot-dot", "jinja" …
	Context string `json:"context"`
	// At is the JSON pointer of the place in the arguments, "" for the tool's name.
	At string `json:"at,omitempty"`
	// Token names what the effect makes or asks for. Drawn for this call alone.
	Token string `json:"token,omitempty"`
	// Path is the file outside the root that is aimed at, without its suffix;
	// Value is what stands in it and nowhere else.
	Path  string `json:"path,omitempty"`
	Value string `json:"value,omitempty"`
	// Host is the address or name aimed at; on loopback, where nothing answers,
	// Port is the token's own.
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
	// Undeclared says that the tool declares no argument of this name.
	Undeclared bool `json:"undeclared,omitempty"`
}
