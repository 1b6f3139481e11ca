package strace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

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
