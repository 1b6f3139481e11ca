//go:build linux && e2e

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// eachTracer runs a test under each tracer in the local sandbox.
func eachTracer(t *testing.T, f func(t *testing.T, tracer string)) {
	for _, tracer := range []string{sandbox.TracerStrace, sandbox.TracerEBPF} {
		t.Run(tracer, func(t *testing.T) {
			t.Parallel()
			probetest.Need(t, "local")
			if tracer == sandbox.TracerEBPF {
				sandboxtest.Need(t, "bpf")
			}
			f(t, tracer)
		})
	}
}

// More calls than can be read are seen all the same, or the verdict is that it
// cannot be known, with how many are missing. COALMINE_TRACER_FAULTS makes it a million
// under both; strace, which stops each call and so takes long, gets fewer without it.
func TestStormIsNeverClean(t *testing.T) {
	eachTracer(t, func(t *testing.T, tracer string) {
		mode, calls := "gust", int64(100_000)
		if tracer == sandbox.TracerStrace {
			mode, calls = "breeze", 20_000
		}
		if os.Getenv("COALMINE_TRACER_FAULTS") != "" {
			mode, calls = "storm", 1_000_000
		}
		l := probetest.New(t, "hostile")
		o := l.Options("local", l.Path("hostile"), mode)
		o.Tracer, o.Calls, o.CallTimeout, o.Timeout, o.ShrinkTime = tracer, 1, 3*time.Minute, 4*time.Minute, time.Millisecond
		res := l.ProbeWithin(6*time.Minute, o)
		seen, lost := int64(res.Coverage.Records), res.Coverage.Lost
		t.Logf("%d records, %d lost: %s %v", seen, lost, res.Verdict, res.Inconclusive)
		if seen+lost < calls {
			t.Errorf("%d of %d calls are seen or told as lost", seen+lost, calls)
		}
		if lost > 0 && (res.Verdict != analyze.Inconclusive || unrecorded(res.Inconclusive) != lost) {
			t.Errorf("%d are lost, and the verdict is %s: %v", lost, res.Verdict, res.Inconclusive)
		}
	})
}

// unrecorded adds up how much a run's reasons say is missing.
func unrecorded(reasons []string) (all int64) {
	for _, r := range reasons {
		var n int64
		if _, err := fmt.Sscan(r, &n); err == nil && strings.HasSuffix(r, " were not recorded") {
			all += n
		}
	}
	return all
}

// A buffer that fills loses calls: how many is told, and the verdict is that it cannot be known.
func TestFullRingIsNeverClean(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "bpf")
	l := probetest.New(t, "hostile")
	o := l.Options("local", l.Path("hostile"), "gust")
	o.Tracer, o.Calls, o.CallTimeout, o.Timeout, o.ShrinkTime, o.RingSize = sandbox.TracerEBPF, 1, time.Minute, 2*time.Minute, time.Millisecond, 1<<19
	res := l.ProbeWithin(3*time.Minute, o)
	lost := res.Coverage.Lost // 100,000 calls are more than fits, whatever else is lost
	t.Logf("%d records, %d lost: %s %v", res.Coverage.Records, lost, res.Verdict, res.Inconclusive)
	if lost < 1000 || res.Verdict != analyze.Inconclusive || unrecorded(res.Inconclusive) != lost {
		t.Errorf("%d are lost, and the verdict is %s: %v", lost, res.Verdict, res.Inconclusive)
	}
}

// A tracer that is killed, or taken off its hooks, in the middle of a run ends it,
// and what was seen until then is never called clean.
func TestTracerTakenAwayIsNeverClean(t *testing.T) {
	for tracer, take := range map[string]func(t *testing.T, l *probetest.Lab){
		sandbox.TracerStrace: func(t *testing.T, l *probetest.Lab) { killStrace(t, l.Path("honest")) },
		sandbox.TracerEBPF:   func(t *testing.T, _ *probetest.Lab) { detachAll(t) },
	} {
		t.Run(tracer, func(t *testing.T) {
			probetest.Need(t, "local")
			if tracer == sandbox.TracerEBPF {
				sandboxtest.Need(t, "bpf")
			}
			l := probetest.New(t, "honest")
			o := l.Options("local", l.Path("honest"))
			o.Tracer, o.ShrinkTime = tracer, time.Millisecond
			var once sync.Once
			o.Progress = func(line string) {
				if strings.HasPrefix(line, "call 1:") {
					once.Do(func() { take(t, l) })
				}
			}
			res := l.Probe(o)
			if res.Verdict != analyze.Inconclusive || !slices.ContainsFunc(res.Inconclusive, func(s string) bool { return strings.Contains(s, "tracer") }) {
				t.Errorf("%s: %q", res.Verdict, res.Inconclusive)
			}
		})
	}
}

// killStrace kills the strace that was started beside a program.
func killStrace(t *testing.T, program string) {
	t.Helper()
	killed := 0
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		stat, _ := os.ReadFile(name)
		before, after, ok := strings.Cut(string(stat), " (strace) ")
		if !ok {
			continue
		}
		pid, _ := strconv.Atoi(before)
		parent, _ := strconv.Atoi(strings.Fields(after)[1])
		if parent > 1 && descends(parent, program) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			killed++
		}
	}
	if killed == 0 {
		t.Error("no strace watches the server")
	}
}

// descends says that a process of a program is below another one.
func descends(pid int, program string) bool {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if exe == program {
		return true
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil && descends(n, program) {
				return true
			}
		}
	}
	return false
}

// detachAll takes the programs of this process off the kernel's tracepoints: each
// is there as long as its descriptor is.
func detachAll(t *testing.T) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	detached := 0
	for _, entry := range fds {
		to, _ := os.Readlink("/proc/self/fd/" + entry.Name())
		fd, _ := strconv.Atoi(entry.Name())
		if strings.Contains(to, "bpf_link") || strings.Contains(to, "bpf-raw-tp") {
			if err := unix.Dup3(int(null.Fd()), fd, unix.O_CLOEXEC); err != nil {
				t.Error(err)
			}
			detached++
		}
	}
	if detached == 0 {
		t.Error("no program watches the server")
	}
}
