package strace

import (
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// quiet calls are the first that an ordinary program makes after an exec. When a thread
// that is not its group's leader calls execve, strace 6.1 with --seccomp-bpf takes the
// next traced call for the exec's own end, so that call is lost. Tracing a harmless one
// that comes first means that with honest programs nothing of interest is.
var quietCalls = strings.Fields("arch_prctl set_tid_address sched_getaffinity")

// newer are calls that older straces have no name for and print by number.
var newer = map[string]string{
	"syscall_0x1c4": "fchmodat2",
	"syscall_0x1cf": "setxattrat",
	"syscall_0x1d2": "removexattrat",
	"syscall_0x1d3": "open_tree_attr",
	"syscall_0x1d5": "file_setattr",
}

// names lists the calls of a set, sorted, and the quiet ones, which yield no
// record. Each set contains the one before it.
func names(set string) []string {
	list := slices.Clone(quietCalls)
	for name, c := range trace.Calls {
		if c.In(set) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// calls is the table by name, for the parser; a nil call is a quiet one.
var calls = func() map[string]*trace.Call {
	m := maps.Clone(trace.Calls)
	for _, name := range quietCalls {
		m[name] = nil
	}
	return m
}()
