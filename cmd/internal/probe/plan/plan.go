package plan

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/sandbox/trace/reached"
	"github.com/coalmine-dev/coalmine/synth"
	"github.com/coalmine-dev/coalmine/synth/literals"
	"github.com/coalmine-dev/coalmine/synth/oracle"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// Schema is the version of a Plan's JSON form. Within it members are only added.
const Schema = "coalmine/plan/v1"

// FileName is the plan's file in a run's directory.
const FileName = "plan.json"

// Plan is one run before it happens. It is passed by value and never changed in
// place: who wants another run calls a method that returns a copy.
//
// Its JSON form has no secret in it: the values of decoys and of variables that the
// user passes are left out, and so are the files' contents. A plan that was read
// again says what was run; Options make one that can be run.
type Plan struct {
	Schema string `json:"schema"`
	// RunID is random, and names what the sandbox's backend makes.
	RunID string `json:"run"`
	// Experiment is the name of the experiment that the run belongs to.
	Experiment string `json:"experiment"`
	// Target names the server across runs and machines.
	Target  string           `json:"target"`
	Package *session.Package `json:"package,omitempty"`
	Seed    int64            `json:"seed"`
	Version string           `json:"version"`

	Server   Server   `json:"server"`
	Sandbox  Sandbox  `json:"sandbox"`
	Identity Identity `json:"identity"`
	Budget   Budget   `json:"budget"`
	Drive    Drive    `json:"drive"`

	// Tracer is "ebpf", "strace", TracerBoth (the run is under eBPF, and an experiment
	// repeats it under strace) or "none".
	Tracer string `json:"tracer"`
	// Network is one of the Network constants.
	Network string `json:"network"`
	// EveryName has every name resolve. Otherwise those that cannot exist do not, except
	// Hosts, which the server's command, environment and files name.
	EveryName bool `json:"everyName,omitempty"`
	// Missing are hosts that do not resolve.
	Missing []string         `json:"missing,omitempty"`
	Hosts   []string         `json:"-"`
	Replies []sinkhole.Reply `json:"replies,omitempty"`
	// Services are the real services beside the server, and ServiceImage is their image.
	Services     []string `json:"services,omitempty"`
	ServiceImage string   `json:"serviceImage,omitempty"`
	// Fits are answers with the members that the server's source reads or that a description of
	// an API beside it promises, and GraphQL are the types of a schema there, nil for none.
	Fits    []sinkhole.Fit    `json:"-"`
	GraphQL *sinkhole.GraphQL `json:"-"`
	// Vary is the condition that the run is under, nil for none.
	Vary *session.Vary `json:"vary,omitempty"`
	// Preload is a library that the server must load for the run to mean anything, "" for none.
	Preload string `json:"preload,omitempty"`

	// Shown is what of the host the run shows to the server, and View how it shows the
	// server's own files.
	Shown []session.Shown `json:"shown"`
	View  *shown.View     `json:"-"`

	// Env is the server's whole environment. Files are planted before the start, the
	// first Placed of them being a package's own; Watch are the paths that are watched.
	Env   []Variable    `json:"env"`
	Files []rootfs.File `json:"-"`
	// Left is how many of Files, at their end, an earlier run of the server left.
	Left   int      `json:"-"`
	Placed int      `json:"-"`
	Watch  []string `json:"watch"`
	// Decoys are the set that is planted, and Oracles what oracles' inputs aim at, nil
	// for a run without them. Redactor takes the real values that the server gets out
	// of all that the run writes, nil where it gets none.
	Decoys   *canaries.Set      `json:"-"`
	Oracles  *oracle.World      `json:"-"`
	Redactor *canaries.Redactor `json:"-"`
	// Unredacted says of which variables the real values may stand in files, and why.
	Unredacted []string `json:"unredacted,omitempty"`
}

// Server is how the server is started and spoken to.
type Server struct {
	Command []string `json:"command"`
	// Tools are programs that it starts.
	Tools     []string `json:"tools,omitempty"`
	Transport string   `json:"transport"`
	// Guessed says that Transport is only what most servers speak.
	Guessed bool `json:"guessed,omitempty"`
	// Initialize says that the server ends at server/discover: initialize comes first.
	Initialize bool `json:"initialize,omitempty"`
	// Dir is the working directory; ServerDir holds the server's code, "" for none, and
	// From is the host's directory that is shown there where it is another.
	Dir       string `json:"dir"`
	ServerDir string `json:"serverDir,omitempty"`
	From      string `json:"from,omitempty"`
	// Start is the host's directory that somebody named for the server to start in, "" for none.
	Start string `json:"start,omitempty"`
	// Hidden are paths below ServerDir that are not shown.
	Hidden []string `json:"hidden,omitempty"`
	// Within is the directory, without links, outside which the command shows nothing of
	// the host, "" for no such bound, and Show are the user's exceptions.
	Within string   `json:"within,omitempty"`
	Show   []string `json:"show,omitempty"`
	// Workspaces are the directories that the server may work in; Rooted says that
	// the command names them itself.
	Workspaces []string `json:"workspaces"`
	Rooted     bool     `json:"rooted,omitempty"`
	// Dummies are the variables with values that are no secrets, "NAME=VALUE".
	Dummies []string `json:"dummies,omitempty"`
	// MadeUp are the names of those of Dummies whose values coalmine made up.
	MadeUp []string `json:"made_up,omitempty"`
	// Source is the host's directory of the server's own source, "" for none. It
	// lies in Top, whose own files were written by others; "" for the user's own files.
	Source    string             `json:"source,omitempty"`
	Top       string             `json:"-"`
	Manifests []session.Manifest `json:"manifests,omitempty"`
	// Interpreter is what the server's interpreter reads by itself, nil for nothing known.
	Interpreter *session.Runtime `json:"interpreter,omitempty"`
}

// Sandbox is where the server runs.
type Sandbox struct {
	// Backend is the name of a sandbox.Backend.
	Backend string       `json:"backend"`
	Image   string       `json:"image,omitempty"`
	Runtime string       `json:"runtime,omitempty"`
	Limits  agent.Limits `json:"limits"`
	// NoTLSProbes sets no probes in TLS libraries.
	NoTLSProbes bool `json:"noTLSProbes,omitempty"`
	// AllowUserNS lets the server make user namespaces.
	AllowUserNS bool `json:"allowUserNamespaces,omitempty"`
	// AgentPath is the program that becomes PID 1; "" is this one.
	AgentPath string `json:"-"`
	// Ring is the size of eBPF's buffer in bytes, 0 for the usual one.
	Ring int `json:"ring,omitempty"`
	// Places are those of a compiled program that the run watches.
	Places *reached.Places `json:"-"`
}

// Identity is the user of the decoys, and who the client says it is.
type Identity struct {
	User     string `json:"user"`
	Home     string `json:"home"`
	Hostname string `json:"hostname"`
	// Client is what the client sends as its name; the zero value is an ordinary one.
	Client wire.Implementation `json:"client,omitzero"`
}

// Account is a user and that user's HOME.
type Account struct{ User, Home string }

// AnotherAccount draws an account that is not the one given.
func AnotherAccount(than Account) (Account, error) {
	for {
		user, err := canaries.DrawUser(rand.Reader)
		if err != nil {
			return Account{}, err
		}
		if as := (Account{User: user, Home: "/home/" + user}); as.User != than.User && as.Home != than.Home {
			return as, nil
		}
	}
}

// The kinds of a Drive.
const (
	// DriveExplore draws inputs for all that the server declares.
	DriveExplore = "explore"
	// DrivePlay makes Steps, and nothing else.
	DrivePlay = "play"
	// DriveBuild runs Scripts in place of a server.
	DriveBuild = "build"
	// DriveHelper runs a program that serves the probe, until it ends by itself.
	DriveHelper = "helper"
	// DriveNone starts nothing: there is no server, and Why says why.
	DriveNone = "none"
)

// Drive is what is asked of the server between its listing and its end.
type Drive struct {
	Kind string `json:"kind"`
	// Steps are the calls of DrivePlay. Quick makes them without a listing and a
	// wait after each.
	Steps []synth.Step `json:"steps,omitempty"`
	Quick bool         `json:"quick,omitempty"`
	// Skip are tools that are not called.
	Skip []string `json:"skip,omitempty"`
	// Only is the one tool that is called, "" for all. Avoid are arguments that it is not
	// given: the server ended at them.
	Only  string            `json:"only,omitempty"`
	Avoid []json.RawMessage `json:"avoid,omitempty"`
	// Hints are values that fit parameters, Words further names of tools and arguments.
	Hints schema.Hints `json:"hints"`
	Words []string     `json:"words,omitempty"`
	// Routes are those that the server's source serves over HTTP.
	Routes []literals.Route `json:"routes,omitempty"`
	// ByTerm ends the server with a signal, and not with the end of its stdin.
	ByTerm bool `json:"byTerm,omitempty"`
	// Collect takes along the files that the server leaves.
	Collect bool `json:"collect,omitempty"`
	// Record is a directory whose files are taken along at the end, "" for none: what the
	// server's processes recorded about themselves.
	Record string `json:"record,omitempty"`
	// Far is how far away a moment may be for which the server waits at the end without being a
	// gap, 0 for any: no other run lets that much time pass.
	Far time.Duration `json:"far,omitempty"`
	// Guide varies the calls of DrivePlay after them, guided by what is recorded; the zero
	// value does not.
	Guide Guide `json:"guide,omitzero"`
	// Scripts are those of DriveBuild, Why is the reason of DriveNone.
	Scripts Scripts     `json:"-"`
	Why     session.Gap `json:"-"`
}

// Scripts are what an installation runs.
type Scripts struct {
	Tree *install.Tree
	// Tools are the programs that they start.
	Tools []string
	// To is the host's directory into which the tree goes that they leave.
	To string
}

// Guide bounds a search for inputs that reach new code of the server's own.
type Guide struct {
	// Tries bounds the calls, and Time how long they take.
	Tries int           `json:"tries"`
	Time  time.Duration `json:"time"`
	// Delay is how long the record of a call may take after its answer.
	Delay time.Duration `json:"delay,omitempty"`
}

// Variable is one of the environment.
type Variable struct {
	Name string `json:"name"`
	// Value is left out of the JSON form where Secret.
	Value  string `json:"value,omitempty"`
	Secret bool   `json:"secret,omitempty"`
	// Passed says that Value is a real one of the user's. Decoy stands in for it wherever the
	// server does not need it.
	Passed bool   `json:"-"`
	Decoy  string `json:"-"`
}

// MarshalJSON leaves a secret's value out.
func (v Variable) MarshalJSON() ([]byte, error) {
	type plain Variable
	if v.Secret {
		v.Value = ""
	}
	return json.Marshal(plain(v))
}

// With is a copy of the plan with variables set, each "NAME=VALUE".
func (p Plan) With(variables ...Variable) Plan {
	p.Env = slices.Clone(p.Env)
	for _, v := range variables {
		p.Env = setEnv(p.Env, v)
	}
	return p
}

// Unpassed is a copy of the plan without the real values that the user passed: each
// variable has its decoy.
func (p Plan) Unpassed() Plan {
	p.Env = slices.Clone(p.Env)
	for i, v := range p.Env {
		if v.Passed {
			p.Env[i] = Variable{Name: v.Name, Value: v.Decoy, Secret: true}
		}
	}
	return p
}

// For is a copy of the plan with a run id of its own that belongs to an experiment.
func (p Plan) For(experiment string) (Plan, error) {
	id, err := NewRunID()
	if err != nil {
		return p, err
	}
	p.RunID, p.Experiment = id, experiment
	return p, nil
}

// Planted reports whether a path is planted, and not left by an earlier run: what the server
// did to it is its own affair.
func (p *Plan) Planted(name string) bool {
	return slices.ContainsFunc(p.Files[:len(p.Files)-p.Left], func(f rootfs.File) bool { return f.Path == name })
}

// Straced reports whether the sandbox has strace in it.
func (p *Plan) Straced() bool {
	return p.Tracer != TracerNone && p.Tracer != sandbox.TracerEBPF && p.Tracer != TracerBoth
}

// Watched reports whether a tracer watches the run.
func (p *Plan) Watched() bool { return p.Tracer != TracerNone }

// NewRunID draws the id of a run: 16 hexadecimal digits.
func NewRunID() (string, error) {
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return "", fmt.Errorf("draw a run's id: %w", err)
	}
	return hex.EncodeToString(id), nil
}

// Encode writes the plan's JSON form. No decoy's value is in it, and no variable's
// that is passed; where else one stands, session.Output takes it out.
func (p Plan) Encode() ([]byte, error) {
	p.Schema = Schema
	p.Drive.Steps = slices.Clone(p.Drive.Steps)
	synth.Aim(p.Drive.Steps, func(string) string { return "" })
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("write a plan: %w", err)
	}
	out, err := p.WithoutDecoys(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("write a plan: %w", err)
	}
	return out, nil
}

// maxPlan bounds a plan's file, in bytes.
const maxPlan = 16 << 20

// Decode reads a plan's JSON form. What Encode leaves out stays zero.
func Decode(data []byte) (Plan, error) {
	var p Plan
	if len(data) > maxPlan {
		return p, fmt.Errorf("read a plan: it has more than %d bytes", maxPlan)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return Plan{}, fmt.Errorf("read a plan: %w", err)
	}
	switch {
	case p.Schema != Schema:
		return Plan{}, fmt.Errorf("read a plan: its schema is not %s", Schema)
	case p.Identity.Home != "" && (!path.IsAbs(p.Identity.Home) || path.Clean(p.Identity.Home) != p.Identity.Home):
		return Plan{}, errors.New("read a plan: its home is not an absolute path")
	}
	return p, nil
}
