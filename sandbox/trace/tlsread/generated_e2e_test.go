//go:build linux && (amd64 || arm64) && e2e

package tlsread

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// The committed programs are what the committed source compiles to.
func TestGenerated(t *testing.T) {
	slots.Acquire(t, 2)
	if _, err := exec.LookPath("clang-16"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("COALMINE_REQUIRE"), ","), "clang") {
			t.Fatal("clang is required here (COALMINE_REQUIRE), but ", err)
		}
		t.Skip(err)
	}
	source, err := os.ReadFile("gen.go")
	if err != nil {
		t.Fatal(err)
	}
	_, line, ok := strings.Cut(string(source), "//go:generate ")
	if !ok {
		t.Fatal("gen.go does not say how")
	}
	dir := t.TempDir()
	args := strings.Fields(line)
	args = slices.Insert(args, slices.Index(args, "program"), "-output-dir", dir)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GOPACKAGE=tlsread")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, f := range files {
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Base(f))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its source makes: run make generate (%v)", filepath.Base(f), err)
		}
	}
}
