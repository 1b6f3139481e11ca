//go:build linux && (amd64 || arm64) && e2e

package tlsread

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

const cgoProgram = `package main

import "C"

import "crypto/tls"

func main() {
	c, err := tls.Dial("tcp", "127.0.0.1:1", nil)
	if err == nil {
		_, _ = c.Write(nil)
		_, _ = c.Read(nil)
	}
}
`

// The functions of a program without symbols are found, too, where a C linker put its own text before Go's.
func TestStrippedCgo(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	slots.Acquire(t, 1)
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": cgoProgram, "go.mod": "module m\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w -linkmode=external", "-o", "program", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	probes, err := inspect(f, true)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, p := range probes {
		found[p.program] = true
	}
	for _, fn := range goFunctions {
		if !found[fn.program] {
			t.Errorf("%s is not found", fn.name)
		}
	}
}
