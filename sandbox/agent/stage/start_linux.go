package stage

import (
	"os"
	"path"
	"runtime"
	"strings"
)

// pending is the order of a stage that the agent's package runs.
var pending struct {
	order *Order
	fds   []int
}

func init() {
	traced := len(os.Args) == 2 && os.Args[1] == "init" && strings.HasPrefix(os.Args[0], SelfPrefix)
	plain := Invoked() && len(os.Environ()) == 1 && os.Environ()[0] == Env
	if traced || plain {
		runtime.LockOSThread()
		if status := run(); pending.order == nil {
			os.Exit(status)
		}
	}
}

// Invoked reports whether this process was started in a sandbox, as "init" and without
// arguments: as an agent, or as a stage with an ordinary command line.
func Invoked() bool {
	return len(os.Args) == 1 && path.Base(os.Args[0]) == "init"
}

// Pending is the order of a stage with the role of a sink, and its descriptors: whoever
// takes it runs it and ends the process. It is nil in all other processes.
func Pending() (*Order, []int) { return pending.order, pending.fds }
