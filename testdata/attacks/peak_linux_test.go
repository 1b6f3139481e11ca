//go:build linux && e2e

package attacks

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// everyLook is how often the processes are looked at. The kernel keeps the high-water mark
// itself, so only what a process allocates after the last look is missed.
const everyLook = 10 * time.Millisecond

// watchMemory looks at the processes below pid until the function is called that it
// returns, which says the peak of the largest one in KiB, 0 where none was seen.
//
// The rusage of a child would not do: it is that of the child's own children too, and it
// begins with what the tester held when it forked.
func (s *scene) watchMemory(ctx context.Context, pid int) func() int64 {
	ctx, cancel := context.WithCancel(ctx)
	said := make(chan int64, 1)
	go func() {
		tick := time.NewTicker(everyLook)
		defer tick.Stop()
		top, peak := pid, int64(0)
		if s.container != "" {
			top = 0
		}
		for {
			if top == 0 {
				top = firstOf(ctx, s.container)
			}
			peak = max(peak, s.largest(top))
			select {
			case <-ctx.Done():
				said <- peak
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 { cancel(); return <-said }
}

// firstOf is a container's first process, 0 where it has not begun.
func firstOf(ctx context.Context, container string) int {
	out, _ := exec.CommandContext(ctx, "docker", "inspect", "--format", "{{.State.Pid}}", container).Output()
	pid, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return pid
}

// largest is the highest mark of a process and its descendants, which other namespaces do
// not hide. Of an attack only coalmine's own count, its agent in namespaces or in place
// among them: a server, its tracer and a container have bounds of their own.
func (s *scene) largest(pid int) int64 {
	if pid == 0 {
		return 0
	}
	dir := fmt.Sprintf("/proc/%d", pid)
	var peak int64
	if s.control || s.isCoalmine(dir) {
		peak = highWater(dir + "/status")
	}
	tasks, _ := filepath.Glob(dir + "/task/*/children")
	for _, name := range tasks {
		text, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				peak = max(peak, s.largest(child))
			}
		}
	}
	return peak
}

// isCoalmine reports whether a process, given by its directory in /proc, runs this scene's program.
func (s *scene) isCoalmine(dir string) bool {
	root := ""
	if s.container != "" {
		root = dir + "/root"
	}
	program, err := os.Stat(root + s.at("bin/coalmine"))
	if err != nil {
		return false
	}
	exe, err := os.Stat(dir + "/exe")
	return err == nil && os.SameFile(exe, program)
}

// highWater is VmHWM of a status file (proc_pid_status(5)), in KiB.
func highWater(name string) int64 {
	text, _ := os.ReadFile(name)
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(value)), " kB"), 10, 64)
			return n
		}
	}
	return 0
}
