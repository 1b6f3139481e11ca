//go:build linux && e2e

package strace_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
)

// BenchmarkTraced is what tracing costs a program that makes 600,000 cheap system
// calls: "x" is the time relative to the untraced run.
func BenchmarkTraced(b *testing.B) {
	prefix := host(b)
	odd := compile(b, "odd", "-pthread")
	target := []string{odd, "spin", "600000"}
	timed := func(argv ...string) time.Duration {
		start := time.Now()
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", argv, err, out)
		}
		return time.Since(start)
	}
	untraced := time.Hour
	for range 5 {
		untraced = min(untraced, timed(target...))
	}
	with := func(args []string) []string { return append(append(append([]string{}, prefix...), args...), target...) }
	for _, c := range []struct {
		name string
		argv []string
	}{
		{"untraced", target},
		{"core", with(strace.Args(strace.Core, "/dev/null"))},
		{"io", with(strace.Args(strace.IO, "/dev/null"))},
		{"plain-strace-f", with([]string{"-f", "-o", "/dev/null"})},
	} {
		b.Run(c.name, func(b *testing.B) {
			best := time.Hour
			for b.Loop() {
				best = min(best, timed(c.argv...))
			}
			b.ReportMetric(float64(best)/float64(untraced), "x")
		})
	}
}
