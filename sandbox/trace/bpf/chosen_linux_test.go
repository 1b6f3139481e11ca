//go:build linux && (amd64 || arm64) && e2e

package bpf

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// A process that is named while it runs is watched, and so is what it starts. One that
// was not named is not.
func TestChosenProcesses(t *testing.T) {
	need(t)
	slots.Acquire(t, 1)
	dir := t.TempDir()
	tr, err := Open(Options{PID: os.Getpid(), Set: Core, Chosen: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	type did struct {
		name string
		pid  int
	}
	var opened []did
	var lost []string
	tr.StartChosen(func(pid int, r *trace.Record) {
		if r.Op == trace.OpOpen && r.OK() && strings.HasPrefix(r.Path, dir) {
			opened = append(opened, did{filepath.Base(r.Path), pid})
		}
	}, func(_ uint64, why string) { lost = append(lost, why) })
	named, pid := shell(t, tr, dir, "named", true)
	other, _ := shell(t, tr, dir, "other", false)
	named()
	other()
	if err := tr.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	tr.Close()
	if len(lost) > 0 {
		t.Errorf("lost: %q", lost)
	}
	if len(opened) != 2 || opened[0] != (did{"named.own", pid}) || opened[1].name != "named.child" || opened[1].pid == pid {
		t.Errorf("opened: %v, the process is %d", opened, pid)
	}
	if slices.ContainsFunc(opened, func(d did) bool { return strings.HasPrefix(d.name, "other") }) {
		t.Error("a process that nobody named is watched")
	}
}

// shell starts one that waits, and then opens a file itself and another by a child.
func shell(t *testing.T, tr *Tracer, dir, name string, watch bool) (finish func(), pid int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `echo ready; read x; : >"$0.own"; cat "$0.child"; true`, filepath.Join(dir, name))
	if err := os.WriteFile(filepath.Join(dir, name+".child"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q: %v", line, err)
	}
	if watch {
		if err := tr.Watch(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		_, _ = in.Write([]byte("go\n"))
		_ = in.Close()
		_ = cmd.Wait() // what it opened is looked at
	}, cmd.Process.Pid
}
