//go:build !linux

package docker

import (
	"os"
	"runtime"
	"syscall"
)

// Without /proc a process is known by its pid alone: one that has it may be
// another, and what it owns is kept.
func bootID() string { return runtime.GOOS }

func pidNamespace() string { return "" }

func startTime(pid int) string {
	p, err := os.FindProcess(pid)
	if err != nil {
		return ""
	}
	if runtime.GOOS != "windows" && p.Signal(syscall.Signal(0)) != nil {
		return ""
	}
	return "running"
}
