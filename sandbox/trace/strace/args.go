package strace

import (
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The sets of calls that can be traced, as package trace has them.
const (
	Core  = trace.Core
	Looks = trace.Looks
	IO    = trace.IO
)

// stringLimit bounds each printed string and, times itself, an argument list.
// Paths and socket addresses are always printed whole.
const stringLimit = 1024

// LastCall is the highest number of a system call that strace 6.1 has a name for. Its
// filter lets higher ones pass untraced (fchmodat2, setxattrat …): whoever starts
// the target has to have them answered with ENOSYS, as by a kernel of that age, or
// to count them as unseen.
const LastCall = 450

// Args returns strace's flags after its own name; the target's command line follows
// them. The log goes to the file named out, which may be an inherited descriptor
// ("/proc/self/fd/3"). Any other set is Core.
//
// The log is made to be unambiguous: strings are quoted with every quote,
// backslash, control and non-ASCII byte escaped, descriptors' paths also with their
// angle brackets escaped, every line starts with the task and the time, and no
// process name, which the target could choose, is ever printed.
//
// A target could act unseen by io_uring, or deny its own calls unseen by a filter: a
// filter of the agent's (package seccomp) refuses both.
func Args(set, out string) []string {
	return []string{
		"-f",
		// Calls outside the set run at full speed: the filter lets them pass.
		"--seccomp-bpf",
		"--absolute-timestamps=format:unix,precision:ns",
		"--decode-fds=path,pidfd",
		"--decode-pids=pidns",
		"--quiet=attach,personality",
		"--string-limit=" + strconv.Itoa(stringLimit),
		// Only what is ignored by default: strace would not tell of a task killed by the others.
		"--signal=!SIGCHLD,SIGURG,SIGWINCH,SIGCONT",
		"--trace=?" + strings.Join(names(set), ",?"),
		"--output=" + out,
		"--",
	}
}
