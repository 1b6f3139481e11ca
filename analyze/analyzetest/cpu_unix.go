//go:build unix

package analyzetest

import (
	"syscall"
	"testing"
	"time"
)

// CPU is the time that this process has had on all processors: on a shared
// machine the wall clock says little about a processor's work.
func CPU(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
