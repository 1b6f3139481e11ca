package profile

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Calls that every program may make are a reach for the kernel or for another process by
// what they ask for, and by their refusal.
func TestReaches(t *testing.T) {
	open := func(p, flags, err string) trace.Record {
		return trace.Record{Op: trace.OpOpen, Call: "openat", Path: p, Flags: flags, Err: err}
	}
	other := func(call, flags, err string) trace.Record {
		return trace.Record{Op: trace.OpOther, Call: call, Flags: flags, Err: err}
	}
	for name, c := range map[string]struct {
		r    trace.Record
		want string
	}{
		"another root":             {trace.Record{Op: trace.OpChdir, Call: "chroot", Path: "/tmp", Err: "EPERM"}, "chroot"},
		"a root that is not there": {trace.Record{Op: trace.OpChdir, Call: "chroot", Path: "/x", Err: "ENOENT"}, ""},
		"a directory":              {trace.Record{Op: trace.OpChdir, Call: "chdir", Path: "/root", Err: "EACCES"}, ""},
		"a device":                 {trace.Record{Op: trace.OpMkdir, Call: "mknodat", Path: "/tmp/n", Flags: "S_IFBLK|0600", Err: "EPERM"}, "mknod S_IFBLK"},
		"a pipe":                   {trace.Record{Op: trace.OpMkdir, Call: "mknodat", Path: "/n", Flags: "S_IFIFO|0600", Err: "EACCES"}, ""},
		"root":                     {other("setresuid", "", "EPERM"), "setresuid"},
		"root, not mapped":         {other("setresuid", "", "EINVAL"), "setresuid"},
		"capabilities":             {other("capset", "", "EPERM"), "capset"},
		"root on 32 bits":          {other("setuid32", "", "EPERM"), "setuid"},
		"its own uid":              {other("setuid", "", ""), ""},
		"a raw packet":             {trace.Record{Op: trace.OpSocket, Call: "socket", Flags: "SOCK_RAW|SOCK_CLOEXEC|IPPROTO_UDP", Err: "EPERM", Addr: &trace.Addr{Family: "inet"}}, "socket SOCK_RAW"},
		"a ping":                   {trace.Record{Op: trace.OpSocket, Call: "socket", Flags: "SOCK_DGRAM|IPPROTO_ICMP", Err: "EACCES", Addr: &trace.Addr{Family: "inet"}}, ""},
		"another's limits":         {trace.Record{Op: trace.OpLimit, Call: "prlimit64", Pid: 7, Flags: "RLIMIT_NOFILE", Err: "EPERM"}, "prlimit64"},
		"its own limits":           {trace.Record{Op: trace.OpLimit, Call: "prlimit64", Flags: "RLIMIT_NOFILE", Err: "EPERM"}, ""},
		"a setting":                {open("/proc/sys/kernel/core_pattern", "O_WRONLY", "EACCES"), "/proc/sys"},
		"a setting by the root":    {open("/proc/self/root/proc/sys/kernel/modprobe", "O_RDWR", "ENOENT"), "/proc/sys"},
		"a setting read":           {open("/proc/sys/net/core/somaxconn", "O_RDONLY", ""), ""},
		"another's root":           {open("/proc/7/root/etc/shadow", "O_RDONLY", "EACCES"), "/proc/PID/root"},
		"another's directory":      {trace.Record{Op: trace.OpOpen, Call: "openat", Path: "/etc/shadow", Given: "/proc/7/cwd/../etc/shadow", Err: "EACCES"}, "/proc/PID/cwd"},
		"another's priority":       {open("/proc/7/oom_score_adj", "O_RDWR", "EACCES"), "/proc/PID"},
		"another's descriptors":    {open("/proc/7/fd", "O_RDONLY|O_DIRECTORY", "EACCES"), ""},
		"its own root":             {open("/proc/1/root/etc/shadow", "O_RDONLY", "EACCES"), ""},
		"its own, by name":         {open("/proc/self/root/etc/shadow", "O_RDONLY", "EACCES"), ""},
		"no process":               {open("/proc/7/root/etc/motd", "O_RDONLY", "ENOENT"), ""},
	} {
		c.r.FD = -1
		got := ""
		for _, e := range effects(c.r) {
			if e.Kind == finding.Tamper {
				got = e.Target
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Signal 0 to the parent or to the holder of a lock is a question; to number after number it
// is a search for what to signal.
func TestSearchForProcesses(t *testing.T) {
	ask := func(n int) []trace.Record {
		var out []trace.Record
		for pid := range n {
			out = append(out, trace.Record{Op: trace.OpKill, Call: "kill", Pid: 500 + pid, Flags: "0", Err: "ESRCH", FD: -1})
		}
		return out
	}
	tampers := func(records []trace.Record) int {
		n := 0
		for _, e := range effects(records...) {
			if e.Kind == finding.Tamper && e.Target == "kill" {
				n += e.Count
			}
		}
		return n
	}
	if n := tampers(ask(maxLookedFor)); n != 0 {
		t.Errorf("%d effects of %d questions, want none", n, maxLookedFor)
	}
	same := append(ask(1), slices.Repeat(ask(1), 100)...)
	if n := tampers(same); n != 0 {
		t.Errorf("%d effects of one process asked for often, want none", n)
	}
	if n := tampers(ask(4 * maxLookedFor)); n != 1 {
		t.Errorf("%d effects of a search, want one", n)
	}
}

// Who started a task may reach for it after its end, and for no other.
func TestReachesForAChildThatEnded(t *testing.T) {
	records := func(pid string) []trace.Record {
		return []trace.Record{
			{Op: trace.OpFork, Call: "fork", Child: 7, FD: -1},
			{Op: trace.OpExit, Call: "exit_group", Tid: 7, FD: -1},
			{Op: trace.OpOpen, Call: "openat", Path: "/proc/" + pid + "/oom_score_adj", Flags: "O_WRONLY", Err: "EACCES", FD: -1},
		}
	}
	for pid, want := range map[string]bool{"7": false, "8": true} {
		if got := slices.ContainsFunc(effects(records(pid)...), func(e finding.Effect) bool { return e.Kind == finding.Tamper }); got != want {
			t.Errorf("process %s: a reach %v, want %v", pid, got, want)
		}
	}
}
