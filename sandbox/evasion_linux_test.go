//go:build linux && e2e

package sandbox_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// evasions are the ways of testdata/evade.c to read a file unseen: how often the
// file's own opening has to be seen (0: once or more), and what besides.
var evasions = []struct {
	name  string
	opens int
	also  func(r *trace.Record) bool
	told  string // the call that the agent has to tell of as refused
	often bool   // part of every run of the tests
}{
	{name: "plain"}, {name: "openat2", often: true}, {name: "dirfd", often: true}, {name: "dots"}, {name: "proc-root"},
	{name: "symlink-race"}, {name: "rewritten-argument", often: true},
	{name: "memfd-exec", also: func(r *trace.Record) bool { return r.Op == trace.OpExec && r.Path == "/memfd:lib" && r.OK() }, often: true},
	{name: "thread-exec", also: func(r *trace.Record) bool {
		return r.Op == trace.OpExec && len(r.Argv) == 4 && r.Argv[0] == "again" && r.OK()
	}},
	{name: "vfork"},
	{name: "io_uring", opens: -1, told: "io_uring_setup", often: true},
	{name: "int80", opens: -1, told: "i386"}, {name: "scm-rights", also: func(r *trace.Record) bool { return r.Call == "sendmsg" && slices.Contains(r.Passed, theSecret) }}, {name: "mmap"}, {name: "copy_file_range"}, {name: "sendfile"}, {name: "splice"},
	{name: "o_path"}, {name: "links"},
	{name: "abstract-socket", opens: -1, also: func(r *trace.Record) bool {
		return r.Op == trace.OpConnect && r.Addr != nil && r.Addr.Host == "@hidden-channel"
	}},
	{name: "short-children", opens: 1000}, {name: "exit-storm", opens: 800, often: true},
	{name: "notify-continue", told: "seccomp"},
	{name: "nested-namespaces", told: "unshare CLONE_NEWUSER|CLONE_NEWPID", often: true},
	{name: "mount-namespace", told: "unshare CLONE_NEWUSER|CLONE_NEWNS"},
	{name: "chroot", told: "unshare CLONE_NEWUSER"},
	{name: "detached-child"},
}

// Whatever way a file is read in, its real path is seen, or the way is barred and
// the attempt is seen.
func TestEvasions(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	bin := program(t, "evade")
	var tb table
	for place, b := range places(t) {
		for _, tracer := range []string{sandbox.TracerStrace, sandbox.TracerEBPF} {
			for _, e := range evasions {
				if os.Getenv(tableEnv) == "" && !e.often {
					continue
				}
				t.Run(place+"/"+tracer+"/"+e.name, func(t *testing.T) {
					if tracer == sandbox.TracerEBPF {
						sandboxtest.Need(t, "bpf")
					}
					rec, lost, _ := watchedRun(t, b, tracer, "core", bin, e.name, "/home/dev", theSecret)
					said := strings.Fields(rec.Out())
					opens, also := 0, e.also == nil
					for _, r := range rec.Records() {
						if r.Op == trace.OpOpen && r.Path == theSecret && r.Real && r.OK() && !strings.Contains(r.Flags, "O_PATH") {
							opens++
						}
						also = also || e.also(r)
					}
					enough := opens >= max(e.opens, 1) || e.opens < 0
					also = also && (e.told == "" || refusedCalls(rec)[e.told] > 0)
					if !enough || !also || lost > 0 || len(said) == 0 {
						t.Errorf("%d opens, besides %t, lost %d %v; the program said %q %q", opens, also, lost, rec.TraceErrors(), rec.Out(), rec.Err())
					}
					if e.opens >= 0 && (len(said) == 0 || said[len(said)-1] != "got") {
						t.Errorf("the program did not get what it was after, which proves nothing: %q %q", rec.Out(), rec.Err())
					}
					tb.say(!t.Failed(), "%-7s %-7s %-20s %-8s %4d opens seen", place, tracer, e.name, strings.Join(said, ","), opens)
				})
			}
		}
	}
	tb.write(t, "evasions")
}

// Under eBPF the target has no tracer to be seen.
func TestTracersSeeNoTracerInTheTarget(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "bpf", "userns")
	s := shell("grep TracerPid /proc/self/status; cat /proc/1/comm")
	s.TraceSet, s.Tracer = "core", sandbox.TracerEBPF
	run := start(t, bare(t), s)
	run.ends(t)
	if !strings.Contains(run.Out(), "TracerPid:\t0\n") {
		t.Errorf("the target sees a tracer: %q", run.Out())
	}
}
