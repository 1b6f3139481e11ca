//go:build linux && e2e

package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestNothingIsLeft starts and closes sandboxes in every state and looks for
// what they might leave.
func TestNothingIsLeft(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "userns")
	_ = shell(t, "true") // whatever is opened once
	before := held(t)
	for i := range 4 {
		s := spec("sh", "-c", "sleep 1000 & sleep 1000")
		r, err := sandbox.Start(bounded(t), New(), s, sandboxtest.NewRecorder())
		must(t, err)
		for range 2 {
			must(t, r.Close(bounded(t)))
		}
		c, err := New().Start(bounded(t), s)
		must(t, err)
		if i == 0 {
			_ = c.(*conn).in.Close()
		}
		for range 2 {
			must(t, c.Close(bounded(t)))
		}
		_ = run(t, spec("true"))
	}
	deadline := time.Now().Add(10 * time.Second)
	after := held(t)
	for ; after.exceeds(before) && time.Now().Before(deadline); after = held(t) {
		runtime.Gosched()
	}
	if after.exceeds(before) {
		t.Errorf("before %+v\nafter %+v\n%s", before, after, stacks())
	}
}

func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

// holdings count what this process has; mounts but for those of an engine, whose containers
// come and go beside this test.
type holdings struct{ goroutines, descriptors, children, mounts int }

// exceeds reports whether there is more of anything: what others had begun before
// may have ended.
func (h holdings) exceeds(o holdings) bool {
	return h.goroutines > o.goroutines || h.descriptors > o.descriptors || h.children > o.children || h.mounts > o.mounts
}

func held(t *testing.T) holdings {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	own := 0
	for line := range strings.Lines(string(mounts)) {
		if !strings.Contains(line, "/docker/") && !strings.Contains(line, "/containerd/") {
			own++
		}
	}
	return holdings{runtime.NumGoroutine(), len(fds), len(children(os.Getpid())), own}
}

func children(pid int) []string {
	var all []string
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		b, _ := os.ReadFile(path)
		all = append(all, strings.Fields(string(b))...)
	}
	return all
}

// beOrphaned starts a sandbox and waits.
func beOrphaned() {
	r, err := sandbox.Start(context.Background(), New(), spec("sleep", "1000"), sandboxtest.NewRecorder())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer runtime.KeepAlive(r)
	fmt.Println(strings.Join(children(os.Getpid()), " "))
	select {}
}

func TestASandboxDiesWithItsMaker(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "userns")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), orphan+"=1")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	b := make([]byte, 100)
	n, err := out.Read(b)
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		t.Fatalf("the maker says %q", b[:n])
	}
	must(t, cmd.Process.Kill())
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; runtime.Gosched() {
		if state(pid) == "Z" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("PID 1 of the sandbox, %d here, lives", pid)
		}
	}
}

func state(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	f := strings.Fields(string(b[strings.LastIndex(string(b), ")")+1:]))
	return f[0]
}
