//go:build linux && e2e

package local

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// start starts and closes one sandbox.
func start(b *testing.B, s sandbox.Spec) {
	b.Helper()
	r, err := sandbox.Start(bounded(b), New(), s, sandboxtest.NewRecorder())
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Close(bounded(b)); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStart is a sandbox from nothing to a running target and back to nothing.
func BenchmarkStart(b *testing.B) {
	sandboxtest.Need(b, "userns")
	for _, set := range []string{"", "core"} {
		b.Run(fmt.Sprintf("trace=%q", set), func(b *testing.B) {
			s := spec("sleep", "1000")
			s.TraceSet = set
			for b.Loop() {
				start(b, s)
			}
		})
	}
}

// BenchmarkServerDirectory is the same with 100 MB of installed packages in the server's directory.
func BenchmarkServerDirectory(b *testing.B) {
	sandboxtest.Need(b, "userns")
	dir := filepath.Join(public(b), "server")
	for p := range 400 {
		for d := range 4 {
			sub := filepath.Join(dir, "node_modules", fmt.Sprint("package", p), fmt.Sprint("dist", d))
			must(b, os.MkdirAll(sub, 0o755))
			for f := range 8 {
				must(b, os.WriteFile(filepath.Join(sub, fmt.Sprint(f, ".js")), make([]byte, 8<<10), 0o644))
			}
		}
	}
	s := spec("sleep", "1000")
	s.ServerDir = dir
	for b.Loop() {
		start(b, s)
	}
}
