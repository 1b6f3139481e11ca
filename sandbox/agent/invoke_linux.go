package agent

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// selfPrefix begins the path by which the agent executes itself: a descriptor,
// because inside a sandbox its own file has no name.
const selfPrefix = "/proc/self/fd/"

// The stages of a target's process run before the other packages of the
// program are initialised: they need none, and a sandbox starts two of them.
func init() {
	if len(os.Args) == 2 && os.Args[1] == "init" && strings.HasPrefix(os.Args[0], selfPrefix) {
		runtime.LockOSThread()
		os.Exit(stage())
	}
}

// Invoked reports whether this process was started to be an agent: as "init"
// and without arguments. A program that starts sandboxes asks first of all.
func Invoked() bool {
	return len(os.Args) == 1 && filepath.Base(os.Args[0]) == "init"
}
