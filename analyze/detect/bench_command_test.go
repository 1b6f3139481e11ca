//go:build linux && e2e

package detect

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// BenchmarkCommands measures the commands that read a log, whole and on one processor.
func BenchmarkCommands(b *testing.B) {
	const frames = 400_000
	coalmine := sandboxtest.Build(b, "./cmd/coalmine")
	log := filepath.Join(b.TempDir(), "session.jsonl")
	if err := os.WriteFile(log, traffic(frames), 0o644); err != nil {
		b.Fatal(err)
	}
	for _, command := range []string{"summarize", "detect", "report"} {
		b.Run(command, func(b *testing.B) {
			var c cputime.Cost
			for b.Loop() {
				args := []string{command, log}
				if command == "report" {
					args = append(args, "--out", filepath.Join(b.TempDir(), "report.html"))
				}
				cmd := exec.Command(coalmine, args...)
				cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
				if c = cputime.Command(b, cmd); c.Status != 0 {
					b.Fatalf("coalmine %s ended with status %d", command, c.Status)
				}
			}
			b.ReportMetric(frames/1000/c.CPU.Seconds(), "kframes/cpu-s")
			b.ReportMetric(float64(c.Peak)/(1<<20), "peak-MB")
		})
	}
}
