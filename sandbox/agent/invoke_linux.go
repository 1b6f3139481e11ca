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
	traced := len(os.Args) == 2 && os.Args[1] == "init" && strings.HasPrefix(os.Args[0], selfPrefix)
	plain := len(os.Args) == 1 && os.Args[0] == "init" && len(os.Environ()) == 1 && os.Environ()[0] == stageEnv
	if traced || plain {
		runtime.LockOSThread()
		os.Exit(stage())
	}
}

// stageEnv tells a stage from an agent where the arguments are to be ordinary,
// because the process will be seen by the target.
const stageEnv = "STAGE=1"

// Invoked reports whether this process was started to be an agent: as "init"
// and without arguments. A program that starts sandboxes asks first of all.
func Invoked() bool {
	return len(os.Args) == 1 && filepath.Base(os.Args[0]) == "init"
}
