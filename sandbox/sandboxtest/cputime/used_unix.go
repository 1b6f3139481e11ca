//go:build unix

package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used is the time that this process has had on all processors, in user and in
// system mode (getrusage(2)).
func Used(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
