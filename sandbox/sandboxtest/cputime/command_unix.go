//go:build unix

package cputime

import (
	"errors"
	"os/exec"
	"runtime"
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
	begin := time.Now()
	err := cmd.Run()
	c := Cost{Wall: time.Since(begin)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() < 0 {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	c.Status = cmd.ProcessState.ExitCode()
	c.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.Peak = u.Maxrss
		if runtime.GOOS != "darwin" {
			c.Peak <<= 10 // kilobytes; darwin counts bytes (getrusage(2))
		}
	}
	return c
}
