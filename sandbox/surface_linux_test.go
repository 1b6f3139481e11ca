//go:build linux && e2e

package sandbox_test

import (
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/local"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// surface is what testdata/surface.c tries: the error that it must get, and the
// call and arguments that the agent must tell of ("" for what is allowed).
var surface = map[string]struct{ errno, seen string }{
	"unshare": {"1", "unshare CLONE_NEWUSER|CLONE_NEWNET"}, "clone": {"1", "clone CLONE_NEWUSER"}, "clone3": {"38", "clone3 CLONE_NEWUSER"},
	"prctl": {"22", "prctl PR_SET_SECCOMP"}, "seccomp": {"38", "seccomp"}, "userfaultfd": {"1", "userfaultfd"}, "bpf": {"1", "bpf"},
	"perf_event_open": {"1", "perf_event_open"}, "add_key": {"38", "add_key"}, "keyctl": {"38", "keyctl"}, "request_key": {"38", "request_key"},
	"open_by_handle_at": {"1", "open_by_handle_at"}, "init_module": {"1", "init_module"}, "finit_module": {"1", "finit_module"},
	"delete_module": {"1", "delete_module"}, "kexec_load": {"1", "kexec_load"}, "kexec_file_load": {"1", "kexec_file_load"},
	"io_uring_setup": {"38", "io_uring_setup"}, "socket-vsock": {"97", "socket AF_VSOCK"}, "socket-packet": {"97", "socket AF_PACKET"},
	"socket-alg": {"97", "socket AF_ALG"}, "socket-xdp": {"97", "socket AF_XDP"}, "socket-tipc": {"97", "socket AF_TIPC"}, "socket-99": {"97", "socket AF_other"},
	"socket-netfilter": {"93", "socket AF_NETLINK NETLINK_NETFILTER"}, "socket-high-half": {"97", "socket AF_VSOCK"}, "socketpair-tipc": {"97", "socketpair AF_TIPC"},
	"inet": {"0", ""}, "inet6": {"0", ""}, "unix": {"0", ""}, "route": {"0", ""}, "name": {"0", ""}, "fork": {"0", ""},
}

// refusedCalls are the calls that the agent told of, sorted, each with how often.
func refusedCalls(rec *sandboxtest.Recorder) map[string]int64 {
	out := map[string]int64{}
	for _, e := range sandboxtest.EventsOf[session.EventRefused](rec) {
		out[strings.TrimSpace(e.Call+" "+e.Args)] += e.Count
	}
	return out
}

// checkSurface compares what the program was answered and what the agent told.
func checkSurface(t *testing.T, rec *sandboxtest.Recorder, lost uint64) {
	t.Helper()
	want := maps.Clone(surface)
	if runtime.GOARCH == "amd64" {
		want["i386"], want["x32"] = struct{ errno, seen string }{"38", "i386"}, struct{ errno, seen string }{"38", "x32"}
	}
	answers, calls := map[string]string{}, map[string]int64{}
	for name, w := range want {
		answers[name] = w.errno
		if w.seen != "" {
			calls[w.seen]++
		}
	}
	got := map[string]string{}
	for line := range strings.Lines(rec.Out()) {
		name, errno, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[name] = errno
	}
	if diff := cmp.Diff(answers, got); diff != "" {
		t.Errorf("answers: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(calls, refusedCalls(rec)); diff != "" {
		t.Errorf("refused calls: -want +got\n%s", diff)
	}
	if lost != 0 {
		t.Errorf("%d lost: %v", lost, rec.TraceErrors())
	}
	for _, r := range rec.Records() {
		if r.Injected {
			t.Errorf("a refused call is told twice: %+v", r)
		}
	}
}

// What no server needs of the kernel is refused and seen, alike under both
// tracers and none, for the user of root's sandbox and of an ordinary user's.
func TestKernelSurfaceIsRefusedAndSeen(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "gcc")
	bin := program(t, "surface")
	t.Run("bare", func(t *testing.T) {
		kinds(t, func(t *testing.T, b sandboxtest.Bare, set string) {
			for _, inPlace := range []bool{false, true} {
				s := spec(bin)
				s.TraceSet = set
				b.InPlace = inPlace
				if inPlace && b.SingleUID {
					continue // a container has more than one user
				}
				run := start(t, b, s)
				run.ends(t)
				checkSurface(t, run.Recorder, run.Lost())
			}
		})
	})
	for _, tracer := range []string{sandbox.TracerStrace, sandbox.TracerEBPF} {
		t.Run("local/"+tracer, func(t *testing.T) {
			if tracer == sandbox.TracerEBPF {
				sandboxtest.Need(t, "bpf")
			}
			rec, lost, _ := watchedRun(t, local.New(), tracer, "core", bin)
			checkSurface(t, rec, lost)
		})
		t.Run("docker/"+tracer, func(t *testing.T) {
			sandboxtest.Need(t, "docker")
			if tracer == sandbox.TracerEBPF {
				sandboxtest.Need(t, "bpf")
			}
			rec, lost, _ := watchedRun(t, docker.New("debian:bookworm-slim"), tracer, "core", bin)
			checkSurface(t, rec, lost)
		})
	}
}

// A flood of refused calls ends, is counted whole, and costs the log a bounded number of lines.
func TestAFloodOfRefusedCallsIsCounted(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Storm)
	sandboxtest.Need(t, "gcc", "userns")
	bin := program(t, "surface")
	s := spec(bin, "flood", "100000")
	s.TraceSet, s.ServerDir, s.RunID, s.Limits = "", filepath.Dir(bin), "flood", agent.Limits{Wall: 2 * time.Minute}
	began := time.Now()
	run := start(t, local.New(), s)
	run.ends(t)
	t.Logf("100000 refused calls took %v", time.Since(began))
	events := sandboxtest.EventsOf[session.EventRefused](run.Recorder)
	if n := refusedCalls(run.Recorder)["userfaultfd"]; n != 100_000 || len(events) > 100 || run.Out() != "refused 100000\n" {
		t.Errorf("%d calls in %d events; the program said %q", n, len(events), run.Out())
	}
}

// The refused calls of a program are in the order in which it made them.
func TestRefusedCallsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	bin := program(t, "surface")
	run := start(t, bare(t), spec(bin))
	run.ends(t)
	var stamps []time.Duration
	for _, e := range run.Events() {
		if _, ok := e.Body.(session.EventRefused); ok {
			stamps = append(stamps, e.Stamp)
		}
	}
	if len(stamps) == 0 || !slices.IsSorted(stamps) {
		t.Errorf("stamps %v", stamps)
	}
}

// With --allow-userns a target makes user namespaces, and no more than that.
func TestAllowUserNSAllowsNamespaces(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "gcc", "userns")
	s := spec(program(t, "surface"))
	s.AllowUserNS = true
	run := start(t, bare(t), s)
	run.ends(t)
	for _, want := range []string{"unshare 0\n", "clone 0\n", "clone3 0\n", "prctl 0\n", "keyctl 38\n", "socket-vsock 97\n", "userfaultfd 1\n"} {
		if !strings.Contains(run.Out(), want) {
			t.Errorf("no %q in %q", want, run.Out())
		}
	}
}
