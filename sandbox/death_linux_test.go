//go:build linux && e2e

package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// spied is a backend that shows the connection it made.
type spied struct {
	sandboxtest.Bare
	conn sandbox.Conn
}

func (s *spied) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Conn, error) {
	conn, err := s.Bare.Start(ctx, spec)
	s.conn = conn
	return conn, err
}

// agentPid is PID 1's pid on the host.
func (s *spied) agentPid() int { return s.conn.(interface{ Pid() int }).Pid() }

// childNamed is the child of a process that has a name.
func childNamed(t *testing.T, parent int, name string) int {
	t.Helper()
	pid := child(parent, name)
	if pid == 0 {
		t.Fatalf("process %d has no child %s", parent, name)
	}
	return pid
}

func child(parent int, name string) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		stat, err := os.ReadFile(d + "/stat")
		_, rest, ok := strings.Cut(string(stat), fmt.Sprintf(" (%s) ", name))
		if err == nil && ok && strings.HasPrefix(rest[1:], fmt.Sprintf(" %d ", parent)) {
			pid, _ := strconv.Atoi(filepath.Base(d))
			return pid
		}
	}
	return 0
}

// gone waits until a process of the host has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d lives on", pid)
}

func TestATracerThatDiesTakesTheTargetWithIt(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	for _, single := range []bool{false, true} {
		b := &spied{Bare: bare(t)}
		b.SingleUID, b.Strace = single, tracer(t)
		s := shell("echo up; sleep 1000")
		s.TraceSet = "core"
		run := start(t, b, s)
		run.sees(t, "the target", func() bool { return run.Out() == "up\n" })
		if err := syscall.Kill(childNamed(t, b.agentPid(), "strace"), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		x := run.ends(t)
		if !x.TracerDied || !strings.Contains(x.Reason, "SIGKILL") || len(sandboxtest.EventsOf[session.EventTracerDied](run.Recorder)) != 1 {
			t.Errorf("exit %+v, events %+v", x, run.Events())
		}
	}
}

func TestAnAgentThatDiesIsNoCleanEnd(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	b := &spied{Bare: bare(t)}
	run := start(t, b, shell("echo up; sleep 1000"))
	run.sees(t, "the target", func() bool { return run.Out() == "up\n" })
	sleeper := childNamed(t, b.agentPid(), "sh")
	if err := syscall.Kill(b.agentPid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if x := run.ends(t); !x.TracerDied || !strings.Contains(x.Reason, "without notice") {
		t.Errorf("exit %+v", x)
	}
	gone(t, sleeper)
}

// A host that is killed leaves nothing: its end of the stream closes.
func TestAHostThatDiesLeavesNothing(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	b := &spied{Bare: bare(t)}
	run := start(t, b, shell("trap '' TERM; echo up; sleep 1000"))
	run.sees(t, "the target", func() bool { return run.Out() == "up\n" })
	sleeper, pid := childNamed(t, b.agentPid(), "sh"), b.agentPid()
	if err := b.conn.(interface{ CloseInput() error }).CloseInput(); err != nil {
		t.Fatal(err)
	}
	gone(t, sleeper)
	gone(t, pid)
	run.ends(t)
}

// PID 1 outlives what the host's root sends it, which is all that could reach it.
func TestPID1SurvivesSignals(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	b := &spied{Bare: bare(t)}
	run := start(t, b, shell("cat"))
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGILL, syscall.SIGABRT,
		syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGPROF, syscall.SIGSYS, syscall.Signal(34), syscall.Signal(64)} {
		if err := syscall.Kill(b.agentPid(), sig); err != nil {
			t.Fatal(err)
		}
		if err := run.Sync(bounded(t)); err != nil {
			t.Fatalf("%v: %v: %+v, %s", sig, err, run.ends(t), b.conn.Diagnostics())
		}
		select {
		case <-waiting(run):
			t.Fatalf("%v ended the run: %s", sig, b.conn.Diagnostics())
		default:
		}
	}
	if err := run.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	if x := run.ends(t); x != (sandbox.Exit{}) {
		t.Errorf("exit %+v", x)
	}
}

// Where namespaces are forbidden the agent is not PID 1, and kills no one but
// its own.
func TestInPlace(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	b := bare(t)
	b.InPlace, b.Strace = true, tracer(t)
	s := shell("(setsid sh -c 'trap \"\" TERM; sleep 1000' </dev/null >/dev/null 2>&1 & ); echo up; read x; exit 3")
	s.TraceSet = "core"
	run := start(t, b, s)
	run.sees(t, "the target", func() bool { return run.Out() == "up\n" })
	if err := run.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	run.sees(t, "the exit", func() bool { return len(sandboxtest.EventsOf[session.EventExit](run.Recorder)) == 1 })
	if err := run.Stop(bounded(t), 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if x := run.ends(t); x != (sandbox.Exit{Code: 3}) || run.Lost() != 0 {
		t.Errorf("exit %+v, %d lost, %+v", x, run.Lost(), run.Events())
	}
}

// A host that does not read what a flood of output brings can still stop it.
func TestAHostThatDoesNotReadCanStop(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	b := &spied{Bare: bare(t)}
	conn, err := b.Start(bounded(t), shell(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(bounded(t)) }()
	cfg := &agent.Config{Command: []string{"sh", "-c", "trap '' TERM PIPE; cat & yes & yes >&2 & wait"}, Dir: "/",
		Env: []string{"PATH=/usr/bin:/bin"}, User: agent.User{UID: 1000, GID: 1000}}
	conn.Config(cfg)
	w := mux.NewWriter(conn)
	if err := agent.WriteConfig(w, cfg); err != nil {
		t.Fatal(err)
	}
	var sh int
	for deadline := time.Now().Add(within); sh == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		sh = child(b.agentPid(), "sh")
	}
	for n := range 4 {
		if err := agent.WriteCommand(w, agent.Command{Type: "sync", N: int64(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := agent.WriteCommand(w, agent.Command{Type: "stop", Grace: 20 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	gone(t, sh)
}

// The kernel lets a task be born untraced; strace's filter then fails its calls,
// and the run says that something went unwatched.
func TestATaskBornUntracedIsLoss(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "python")
	b := bare(t)
	b.Strace = tracer(t)
	s := spec("python3", "-c", "import ctypes,time,signal\nc=ctypes.CDLL(None)\np=c.syscall(56,0x00800000|signal.SIGCHLD,0,0,0,0)\nif p==0:\n  time.sleep(1)\n  c._exit(0)\nprint('born',flush=True)\ntime.sleep(1.2)")
	s.TraceSet = "core"
	run := start(t, b, s)
	run.sees(t, "the loss", func() bool { return len(sandboxtest.EventsOf[session.EventLoss](run.Recorder)) > 0 })
	if run.Lost() == 0 {
		t.Error("nothing was lost")
	}
}

func TestAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.AsOrdinaryUser(t, "^(TestTargetIsAnOrdinaryUser|TestNothingEscapes|TestRecordsBeginWithTheTarget|TestExitStatusAndSignal|TestStopEndsDaemonsToo|TestATracerThatDies.*|TestLimitsEndTheRun)$",
		"./testdata/servers/hostile")
}
