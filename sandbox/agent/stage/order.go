package stage

import (
	"encoding/json"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/seccomp"
)

// The descriptors that a stage is started with.
const (
	LinkFD = 3 // its end of the link to the agent
	SelfFD = 4 // this program
	LogFD  = 5 // strace's log; open in the first stage only because strace names it by number
)

// SelfPrefix begins the path by which a stage executes itself: a descriptor,
// because inside a sandbox its own file has no name.
const SelfPrefix = "/proc/self/fd/"

// Env is the whole environment of a stage whose arguments are to be ordinary, because the
// target will see the process; it tells a stage from an agent. It has the Go runtime collect
// no garbage while packages are initialised; a stage that lives on turns that on.
const Env = "GOGC=off"

// The roles that an order gives to a stage.
const (
	RoleTarget = "target" // drop everything and execute the command
	RoleEnter  = "enter"  // start the target's stage in the inner pid namespace
	RoleInner  = "inner"  // be the first process of the inner pid namespace
	RoleSink   = "sink"   // answer the network: the agent's package does it (see Pending)
	RoleFarEnd = "far"    // bring up an interface
)

// Order is what the agent tells a stage to do. Its descriptors come along:
// target: stdin, stdout, stderr, status; enter: pid namespace, status; inner:
// status; sink: status, observations, dials, listeners; far: status.
type Order struct {
	Role    string   `json:"role"`
	Name    string   `json:"name,omitempty"` // of the interface
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"`
	Env     []string `json:"env,omitempty"`
	User    User     `json:"user"`
	Limits  Limits   `json:"limits"`
	// Inner: this is in the inner pid namespace, whose /proc is to be mounted,
	// and in a user namespace that may forbid changing the groups.
	Inner bool `json:"inner,omitempty"`
	// Masks are paths of the inner /proc to cover.
	Masks []string `json:"masks,omitempty"`
	// Writable are the only places to which the target may write, none for no such bound.
	Writable []string `json:"writable,omitempty"`
	// Policy is what is to be refused, and Notify says that the agent takes the listener.
	Policy seccomp.Policy `json:"policy"`
	Notify bool           `json:"notify,omitempty"`
	// Sink is a sink's own order, which the agent's package knows.
	Sink json.RawMessage `json:"sink,omitempty"`
}

// User is who the target runs as.
type User struct {
	Name string `json:"name"`
	UID  int    `json:"uid"`
	GID  int    `json:"gid"`
	Home string `json:"home"`
}

// Limits bound the target; a zero field is no limit.
type Limits struct {
	// Memory bounds the resident sum of all tasks, in bytes.
	Memory int64 `json:"memory,omitempty"`
	// Pids bounds the number of tasks.
	Pids int `json:"pids,omitempty"`
	// CPU bounds the processor time of all tasks.
	CPU time.Duration `json:"cpu,omitempty"`
	// Output bounds stdout and stderr together, in bytes.
	Output int64 `json:"output,omitempty"`
	// File bounds one file's length, and Disk each writable file system, in bytes; all of
	// those that lie in memory may hold twice as much together.
	File int64 `json:"file,omitempty"`
	Disk int64 `json:"disk,omitempty"`
	// Wall bounds the sandbox's life.
	Wall time.Duration `json:"wall,omitempty"`
}

// Refusal is what a stage writes to its status descriptor when it cannot go on.
type Refusal struct {
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// denied says that a file stands there which the target must not execute.
	denied bool
}

func (r *Refusal) Error() string { return r.Reason }
