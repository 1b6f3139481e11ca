package strace_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
)

// BenchmarkParser reads logs of real programs: MB/s on one core.
func BenchmarkParser(b *testing.B) {
	files, err := filepath.Glob("testdata/logs/*.log")
	if err != nil || len(files) == 0 {
		b.Fatalf("no logs: %v", err)
	}
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		log = bytes.Repeat(log, 1+(4<<20)/len(log))
		b.Run(filepath.Base(file), func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			records := 0
			for b.Loop() {
				p := strace.NewParser(0, func(*trace.Record) { records++ }, func([]byte, error) {})
				for rest := log; len(rest) > 0; {
					n := min(64<<10, len(rest))
					_, _ = p.Write(rest[:n])
					rest = rest[n:]
				}
				_ = p.Close()
			}
			b.ReportMetric(float64(records)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
		})
	}
}

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
