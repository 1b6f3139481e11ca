//go:build linux && e2e

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func shell(script string) sandbox.Spec { return spec("sh", "-c", script) }

// alive is a run with its recorder.
type alive struct {
	*sandbox.Run
	*sandboxtest.Recorder
}

// start starts a run that the test's end closes.
func start(t testing.TB, b sandbox.Backend, s sandbox.Spec) alive {
	t.Helper()
	rec := sandboxtest.NewRecorder()
	run, err := sandbox.Start(bounded(t), b, s, rec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(bounded(t)); err != nil {
			t.Error(err)
		}
	})
	return alive{run, rec}
}

// ends waits for a run's end.
func (a alive) ends(t testing.TB) sandbox.Exit {
	t.Helper()
	x, err := a.Wait(bounded(t))
	if err != nil {
		t.Fatalf("%v; events %+v", err, a.Events())
	}
	return x
}

// sees waits for a condition.
func (a alive) sees(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !a.Until(within, ok) {
		t.Fatalf("never saw %s; stdout %q, stderr %q, events %+v", what, a.Out(), a.Err(), a.Events())
	}
}

// kinds are the sandboxes of root's and of an ordinary user's, watched and not.
func kinds(t *testing.T, f func(t *testing.T, b sandboxtest.Bare, traceSet string)) {
	users := []bool{false, true}
	if os.Getuid() != 0 {
		users = users[1:] // an ordinary user may map no second uid
	}
	for _, single := range users {
		for _, traced := range []bool{false, true} {
			t.Run(fmt.Sprintf("single=%t,traced=%t", single, traced), func(t *testing.T) {
				sandboxtest.Need(t, "userns")
				b, set := sandboxtest.Bare{SingleUID: single}, ""
				if traced {
					b.Strace, set = tracer(t), "core"
				}
				f(t, b, set)
			})
		}
	}
}

func tracer(t testing.TB) []string {
	sandboxtest.Need(t, "strace")
	return []string{"/usr/bin/strace"}
}

func bare(t testing.TB) sandboxtest.Bare {
	sandboxtest.Need(t, "userns")
	return sandboxtest.Bare{}
}

func TestTargetIsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, set string) {
		s := shell("cat /proc/self/status; echo uid=$(id -u) gid=$(id -g); hostname; for f in /proc/self/fd/*; do echo fd=${f##*/}; done; cat /proc/1/cmdline; echo; cat /proc/1/task/*/comm")
		s.TraceSet = set
		run := start(t, b, s)
		if x := run.ends(t); x != (sandbox.Exit{}) {
			t.Errorf("exit %+v", x)
		}
		out := run.Out()
		for _, want := range []string{"NoNewPrivs:\t1\n", "uid=1000 gid=1000\n", "Groups:\t \n", "\nbox\n", "\ninit\x00\ninit\n",
			"CapInh:\t0000000000000000\n", "CapPrm:\t0000000000000000\n", "CapEff:\t0000000000000000\n", "CapBnd:\t0000000000000000\n",
			"CapAmb:\t0000000000000000\n", "SigIgn:\t0000000000000000\n", "SigBlk:\t0000000000000000\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in %s", want, out)
			}
		}
		if names := strings.Fields(out[strings.LastIndex(out, "\x00\n")+2:]); strings.Join(names, "") != strings.Repeat("init", len(names)) {
			t.Errorf("threads of PID 1 are named %q", names)
		}
		for fd := range strings.SplitSeq(out, "\n") {
			if n, ok := strings.CutPrefix(fd, "fd="); ok && n > "3" { // 3 is the listing itself, if the shell lists so
				t.Errorf("the target inherited descriptor %s", n)
			}
		}
	})
}

func TestStartErrorsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := public(t)
	file := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	notExecutable := file("plain", "#!/bin/sh\n", 0o644)
	orphan := file("orphan", "#!/no/such/interpreter\n", 0o755)
	noise := file("noise", "\x00\x01\x02", 0o755)
	for name, c := range map[string]struct {
		spec sandbox.Spec
		want string
	}{
		"no such name":       {spec("no-such-command"), "command not found: no-such-command"},
		"no such file":       {spec("/no/such/file"), "command not found: /no/such/file"},
		"not executable":     {spec(notExecutable), "permission denied: " + notExecutable},
		"a directory":        {spec("/usr"), "permission denied: /usr"},
		"no interpreter":     {spec(orphan), "command not found: " + orphan},
		"not a program":      {spec(noise), "permission denied: " + noise},
		"no directory":       {sandbox.Spec{Command: []string{"true"}, Dir: "/no/such/dir"}, "working directory /no/such/dir"},
		"an empty command":   {spec(""), "command not found"},
		"no strace":          {sandbox.Spec{Command: []string{"true"}, Dir: "/", TraceSet: "core"}, "strace: "},
		"a strace that ends": {sandbox.Spec{Command: []string{"true"}, Dir: "/", TraceSet: "core", RunID: "false"}, "strace: "},
	} {
		t.Run(name, func(t *testing.T) {
			b := bare(t)
			b.Strace = []string{"/no/such/strace"}
			if c.spec.RunID == "false" {
				b.Strace = []string{"/bin/false"}
			}
			_, err := sandbox.Start(bounded(t), b, c.spec, sandboxtest.NewRecorder())
			var usage *sandbox.UsageError
			if !errors.As(err, &usage) || !strings.HasPrefix(err.Error(), c.want) || usage.Hint == "" {
				t.Errorf("error %v (%+v), want a hint and %q", err, usage, c.want)
			}
		})
	}
}

func TestExitStatusAndSignal(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, set string) {
		for script, want := range map[string]sandbox.Exit{
			"exit 7":        {Code: 7},
			"kill -SEGV $$": {Code: 139, Signal: "SIGSEGV"},
			"kill -KILL $$": {Code: 137, Signal: "SIGKILL"},
		} {
			s := shell(script)
			s.TraceSet = set
			if x := start(t, b, s).ends(t); x != want {
				t.Errorf("%s: exit %+v, want %+v", script, x, want)
			}
		}
	})
}

func TestStreamsCarryEveryByte(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	run := start(t, bare(t), shell("tee /dev/stderr"))
	block := []byte(strings.Repeat("0123456789abcdef", 4096))
	const n = 160 // ten MiB
	for range n {
		if err := run.Stdin(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	run.ends(t)
	want := strings.Repeat(string(block), n)
	if run.Out() != want || run.Err() != want {
		t.Errorf("%d bytes on stdout and %d on stderr of %d", len(run.Out()), len(run.Err()), len(want))
	}
	last := int64(0)
	for _, e := range sandboxtest.EventsOf[session.EventStdin](run.Recorder) {
		if e.Delivered <= last {
			t.Fatalf("stdin went from %d to %d", last, e.Delivered)
		}
		last = e.Delivered
	}
	if last != int64(len(want)) {
		t.Errorf("stdin ended at %d of %d", last, len(want))
	}
}

func TestATargetThatDoesNotRead(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	run := start(t, bare(t), shell("trap '' TERM; exec sleep 1000"))
	var err error
	for err == nil {
		err = run.Stdin(make([]byte, 1<<20))
	}
	if !errors.Is(err, sandbox.ErrStdinFull) {
		t.Errorf("error %v", err)
	}
	if err := run.Sync(bounded(t)); err != nil {
		t.Error(err)
	}
	if err := run.Stop(bounded(t), 50*time.Millisecond); err != nil {
		t.Error(err)
	}
	if x := run.ends(t); x.Signal != "SIGKILL" {
		t.Errorf("exit %+v", x)
	}
}

func TestClosedStreamsAreTold(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	run := start(t, bare(t), shell("exec <&- >&- 2>&-; sleep 1000"))
	run.sees(t, "both ends of file", func() bool { return len(sandboxtest.EventsOf[session.EventEOF](run.Recorder)) >= 2 })
	if err := run.Stdin([]byte("anyone?\n")); err != nil {
		t.Error(err)
	}
	run.sees(t, "stdin refused", func() bool { return len(sandboxtest.EventsOf[session.EventEOF](run.Recorder)) == 3 })
	select {
	case <-waiting(run):
		t.Error("the run ended with its streams")
	default:
	}
	if err := run.Stop(bounded(t), 10*time.Millisecond); err != nil {
		t.Error(err)
	}
}

func waiting(a alive) <-chan struct{} {
	c := make(chan struct{})
	go func() { _, _ = a.Wait(context.Background()); close(c) }()
	return c
}

func TestStopEndsDaemonsToo(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, set string) {
		s := shell("(trap '' TERM HUP; setsid sh -c 'trap \"\" TERM; sleep 1000' </dev/null >/dev/null 2>&1 & ); echo up; exit 3")
		s.TraceSet = set
		run := start(t, b, s)
		run.sees(t, "the exit", func() bool { return len(sandboxtest.EventsOf[session.EventExit](run.Recorder)) == 1 })
		if len(sandboxtest.EventsOf[session.EventDone](run.Recorder)) != 0 {
			t.Fatal("the run was done before the daemon")
		}
		if err := run.Stop(bounded(t), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if x := run.ends(t); x != (sandbox.Exit{Code: 3}) {
			t.Errorf("exit %+v", x)
		}
		if run.Out() != "up\n" || run.Lost() != 0 {
			t.Errorf("stdout %q, %d lost, %+v", run.Out(), run.Lost(), sandboxtest.EventsOf[session.EventLoss](run.Recorder))
		}
	})
}

func TestWhatOutlivesTheTargetIsWatched(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	run := start(t, bare(t), shell("(sleep 0.9; echo late) & echo up"))
	run.sees(t, "the exit", func() bool { return len(sandboxtest.EventsOf[session.EventExit](run.Recorder)) == 1 })
	if err := run.Stop(bounded(t), 500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if run.ends(t); run.Out() != "up\nlate\n" {
		t.Errorf("stdout %q", run.Out())
	}
}

func TestStopIsPoliteFirst(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	run := start(t, bare(t), shell("cat; echo bye"))
	if err := run.Stop(bounded(t), within); err != nil {
		t.Fatal(err)
	}
	if x := run.ends(t); x != (sandbox.Exit{}) || run.Out() != "bye\n" {
		t.Errorf("exit %+v, stdout %q", x, run.Out())
	}
	run = start(t, bare(t), shell("trap 'echo asked; exit 4' TERM; echo up; while :; do sleep 0.01; done"))
	run.sees(t, "the trap", func() bool { return run.Out() == "up\n" })
	if err := run.Stop(bounded(t), 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if x := run.ends(t); x != (sandbox.Exit{Code: 4}) || run.Out() != "up\nasked\n" {
		t.Errorf("exit %+v, stdout %q", x, run.Out())
	}
}

func TestLimitsEndTheRun(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	for name, c := range map[string]struct {
		script string
		limits agent.Limits
	}{
		"memory": {"head -c 2G /dev/zero | tail -c 1G | sleep 1000", agent.Limits{Memory: 256 << 20}},
		"pids":   {"i=0; while [ $i -lt 10000 ]; do sleep 100 & i=$((i+1)); done; wait", agent.Limits{Pids: 64}},
		"cpu":    {"while :; do :; done", agent.Limits{CPU: 200 * time.Millisecond}},
		"output": {"yes", agent.Limits{Output: 1 << 20}},
		"wall":   {"sleep 1000", agent.Limits{Wall: 100 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			s := shell(c.script)
			s.Limits = c.limits
			run := start(t, bare(t), s)
			x := run.ends(t)
			events := sandboxtest.EventsOf[session.EventLimit](run.Recorder)
			if len(events) != 1 || !strings.HasPrefix(events[0].Reason, name) || !strings.HasPrefix(x.Reason, "limit: "+name) {
				t.Errorf("exit %+v, events %+v", x, run.Events())
			}
			if name == "output" && len(run.Out()) > 2<<20 {
				t.Errorf("%d bytes came through", len(run.Out()))
			}
		})
	}
}

func TestAccessesArriveBeforeASync(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	b := bare(t)
	bait := filepath.Join(public(t), "bait")
	s := shell("read x; cat " + bait + "; echo read; read x")
	s.Files = append(s.Files, file(bait, "secret\n"))
	s.Watch = []string{bait}
	run := start(t, b, s)
	if err := run.Sync(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if got := sandboxtest.EventsOf[session.EventAccess](run.Recorder); len(got) != 0 {
		t.Fatalf("accesses before the target's: %+v", got)
	}
	if err := run.Stdin([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	run.sees(t, "the answer", func() bool { return strings.HasSuffix(run.Out(), "read\n") })
	if err := run.Sync(bounded(t)); err != nil {
		t.Fatal(err)
	}
	var mask string
	for _, e := range sandboxtest.EventsOf[session.EventAccess](run.Recorder) {
		if e.Path != bait {
			t.Errorf("access %+v", e)
		}
		mask += e.Mask + "|"
	}
	if !strings.Contains(mask, "open") || !strings.Contains(mask, "read") {
		t.Errorf("mask %q of %+v", mask, run.Events())
	}
}

func TestCancellingClosesAll(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	b := bare(t)
	before := runtime.NumGoroutine()
	for _, after := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(after, cancel)
		run, err := sandbox.Start(ctx, b, shell("sleep 1000"), sandboxtest.NewRecorder())
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("after %v: %v", after, err)
			}
			continue
		}
		x, err := run.Wait(bounded(t))
		if err != nil || x.Reason != context.Canceled.Error() {
			t.Errorf("after %v: %+v, %v", after, x, err)
		}
		if err := run.Close(bounded(t)); err != nil {
			t.Error(err)
		}
	}
	deadline := time.Now().Add(within)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		buf := make([]byte, 64<<10)
		t.Errorf("%d goroutines, %d before:\n%s", n, before, buf[:runtime.Stack(buf, true)])
	}
}

// public is a directory that every user may enter, unlike t.TempDir's.
func public(t testing.TB) string {
	dir, err := os.MkdirTemp("", "public")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
