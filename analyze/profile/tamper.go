package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

func (b *Builder) tamper(r *trace.Record) {
	if r.Op == trace.OpKill && (r.Flags == "0" || r.Flags == "") {
		b.looksForProcess(r)
		return
	}
	if r.Op == trace.OpKill && r.Err != "EPERM" && r.Pid != 1 {
		return // a signal to a task of its own
	}
	b.tampers(r, r.Call, r.Call)
}

// maxLookedFor is how many processes a server may ask for by signal 0: who watches its parent
// or the holder of a lock asks for one, who tries number after number looks for what to signal.
const maxLookedFor = 16

// looksForProcess notes the process that signal 0 asks for, and adds the search when it is one.
func (b *Builder) looksForProcess(r *trace.Record) {
	if len(b.lookedFor) > maxLookedFor || b.ours(r.Pid) || r.Pid == r.Tid {
		return
	}
	b.lookedFor[r.Pid] = true
	if len(b.lookedFor) > maxLookedFor {
		b.tampers(r, r.Call, fmt.Sprintf("%s with signal 0 to more than %d other processes", r.Call, maxLookedFor))
	}
}

// tampers adds a call that reached for what is another's; text is the evidence but for its error.
func (b *Builder) tampers(r *trace.Record, what, text string) {
	rung := finding.RungAttempted
	if r.OK() {
		rung = finding.RungOpened
	}
	if r.Err != "" {
		text += ": " + r.Err
	}
	b.add(b.effect(finding.Tamper, what, rung, r, b.says(r, text)))
}

// refused takes a call that the sandbox refused, and that no tracer has seen.
func (b *Builder) refused(e session.EventRefused, at time.Duration) {
	call := e.Call
	if e.Args != "" {
		call += " " + e.Args
	}
	text := call + ": " + e.Err
	if e.Count > 1 {
		text += fmt.Sprintf(" (%d times)", e.Count)
	}
	r := &trace.Record{Time: at, Tid: e.Task, Call: e.Call, Op: trace.OpRefused, FD: -1, Ret: -1, Err: e.Err, Injected: true}
	f := b.effect(finding.Tamper, call, finding.RungAttempted, r, finding.Evidence{Source: "event", Time: at, Text: text})
	f.Count = int(min(max(e.Count, 1), math.MaxInt32))
	b.add(f)
}

// settings are the trees by which the kernel itself is set. A file in them that is opened
// for writing is a reach for the kernel, whether it is there or not.
var settings = []string{"/proc/sys", "/proc/sysrq-trigger", "/sys/kernel", "/sys/module", "/sys/firmware", "/sys/power", "/sys/fs/cgroup"}

// identities are the calls by which a process takes another identity. The kernel refuses
// nobody the one that it has, and calls one invalid that a user namespace does not hold.
var identities = strings.Fields("setuid setgid setreuid setregid setresuid setresgid setgroups")

// reachesFor says what a call that every program may make was a reach for: a right of
// root's, the kernel's settings or what is another process's. It is "" for all else.
func (b *Builder) reachesFor(r *trace.Record) string {
	denied := r.Err == "EPERM" || r.Err == "EACCES"
	call := strings.TrimSuffix(r.Call, "32")
	switch {
	case r.Op == trace.OpOpen:
		return b.opensForeign(r, denied)
	case slices.Contains(identities, call) && (denied || r.Err == "EINVAL"):
		return call
	case !denied:
		return ""
	case call == "chroot", call == "capset":
		return call
	case r.Op == trace.OpLimit && r.Pid != 0 && r.Pid != r.Tid && !b.ours(r.Pid):
		return call
	case r.Op == trace.OpSocket && strings.Contains(r.Flags, "SOCK_RAW"):
		return "socket SOCK_RAW"
	case r.Call == "mknod" || r.Call == "mknodat":
		for _, kind := range []string{"S_IFCHR", "S_IFBLK"} {
			if strings.Contains(r.Flags, kind) {
				return "mknod " + kind
			}
		}
	}
	return ""
}

// opensForeign says which setting of the kernel an open was to change, or what of another
// process it was refused: a way through its directories, descriptors and namespaces, or
// anything that it was to write. To list another's descriptors, as ps does, is neither.
func (b *Builder) opensForeign(r *trace.Record, denied bool) string {
	writes := isWrite(r.Flags)
	if tree, ok := underAny(cleanProc(r.Path), settings); ok && writes {
		return tree
	}
	if !denied {
		return ""
	}
	for _, p := range []string{r.Path, r.Given} {
		rest, ok := strings.CutPrefix(p, "/proc/")
		pid, file, _ := strings.Cut(rest, "/")
		n, err := strconv.Atoi(pid)
		if !ok || err != nil || n == r.Tid || b.ours(n) {
			continue
		}
		what, below, _ := strings.Cut(file, "/")
		if below != "" && slices.Contains([]string{"root", "cwd", "fd", "ns", "map_files"}, what) {
			return "/proc/PID/" + what
		}
		if writes {
			return "/proc/PID"
		}
	}
	return ""
}
