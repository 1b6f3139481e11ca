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
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
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
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		stat, err := os.ReadFile(d + "/stat")
		if err == nil && strings.Contains(string(stat), fmt.Sprintf(" (%s) ", name)) && strings.Contains(string(stat), fmt.Sprintf(" %d ", parent)) {
			pid, _ := strconv.Atoi(filepath.Base(d))
			return pid
		}
	}
	t.Fatalf("process %d has no child %s", parent, name)
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
		if !x.TracerDied || !strings.Contains(x.Reason, "SIGKILL") || len(run.Events(agent.EventTracerDied)) != 1 {
			t.Errorf("exit %+v, events %+v", x, run.Events())
		}
	}
}

func TestAnAgentThatDiesIsNoCleanEnd(t *testing.T) {
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
	b := &spied{Bare: bare(t)}
	run := start(t, b, shell("cat"))
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGILL, syscall.SIGABRT,
		syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGPROF, syscall.SIGSYS, syscall.Signal(34), syscall.Signal(64)} {
		if err := syscall.Kill(b.agentPid(), sig); err != nil {
			t.Fatal(err)
		}
		if err := run.Sync(bounded(t)); err != nil {
			t.Fatal(err)
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
