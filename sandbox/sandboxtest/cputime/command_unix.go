//go:build unix

package cputime

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// Cost is what a command took.
type Cost struct {
	Wall time.Duration
	// CPU is the processor time of the command and of all its descendants that were waited for.
	CPU time.Duration
	// Peak are the bytes of memory that the command or its largest descendant had at most.
	Peak int64
	// Status is the exit status.
	Status int
}

// Command runs a command to its end and fails where it cannot be started or is killed.
func Command(t testing.TB, cmd *exec.Cmd) Cost {
	t.Helper()
	forgetPeak()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begin := time.Now()
	err := cmd.Run()
	c := Cost{Wall: time.Since(begin)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() < 0 {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	if c.Status = cmd.ProcessState.ExitCode(); c.Status != 0 {
		t.Logf("%s ended with status %d: %.500s", filepath.Base(cmd.Path), c.Status, stderr.Bytes())
	}
	c.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.Peak = u.Maxrss
		if runtime.GOOS != "darwin" {
			c.Peak <<= 10 // kilobytes; darwin counts bytes (getrusage(2))
		}
	}
	return c
}

// forgetPeak gives memory back and resets this process's peak: until a child has started its
// program it shares the parent's memory, and the kernel counts that for it (proc(5), clear_refs).
// Where there is no such file, a command's peak is at least this process's.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
