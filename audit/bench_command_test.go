//go:build linux && e2e

package audit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// manyFiles is how many files BenchmarkCommand audits.
const manyFiles = 100_000

// BenchmarkCommand measures the whole command: on an empty tree, on a tree of many small files,
// and on CPython's library beside glassport's audit of it.
func BenchmarkCommand(b *testing.B) {
	coalmine := sandboxtest.Build(b, "./cmd/coalmine")
	audit := func(b *testing.B, tree string) cputime.Cost {
		b.Helper()
		c := cputime.Command(b, exec.Command(coalmine, "audit", "--format", "json", tree))
		// 1 and 3 are findings and source that was not read, and 2 is right for an empty tree.
		if c.Status == 2 && filepath.Base(b.Name()) != "empty" {
			b.Fatalf("coalmine audit %s ended with status %d", tree, c.Status)
		}
		return c
	}
	b.Run("empty", func(b *testing.B) {
		tree := b.TempDir()
		var c cputime.Cost
		for b.Loop() {
			c = audit(b, tree)
		}
		b.ReportMetric(float64(c.Wall.Microseconds())/1000, "start-ms")
	})
	b.Run("many", func(b *testing.B) {
		tree := b.TempDir()
		for i := range manyFiles {
			dir := filepath.Join(tree, fmt.Sprint(i/1000))
			if i%1000 == 0 {
				if err := os.Mkdir(dir, 0o755); err != nil {
					b.Fatal(err)
				}
			}
			text := fmt.Sprintf("import json\n\nLIMIT = %d\n\n\ndef read(path):\n    with open(path) as f:\n        return json.load(f)[:LIMIT]\n", i)
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part%d.py", i)), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		var c cputime.Cost
		for b.Loop() {
			c = audit(b, tree)
		}
		b.ReportMetric(c.Wall.Seconds(), "run-s")
		b.ReportMetric(float64(c.Peak)/(1<<20), "peak-MB")
	})
	b.Run("peer", func(b *testing.B) {
		const tree = "/usr/lib/python3.11"
		glassport := filepath.Join(sandboxtest.Cache("glassport", "current"), "py", "bin", "glassport")
		for _, file := range []string{glassport, tree} {
			if _, err := os.Stat(file); err != nil {
				b.Skip(err)
			}
		}
		var ours, theirs cputime.Cost
		for b.Loop() {
			ours = audit(b, tree)
			theirs = cputime.Command(b, exec.Command("unshare", "--user", "--map-root-user", "--net", glassport, "audit", tree, "--json"))
		}
		b.ReportMetric(theirs.Wall.Seconds()/ours.Wall.Seconds(), "x")
		b.ReportMetric(float64(ours.Peak)/(1<<20), "peak-MB")
	})
}
