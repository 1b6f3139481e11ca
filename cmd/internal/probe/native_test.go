//go:build unix

package probe

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

// builtOf is a program of Go whose main function has so many calls of os.Remove.
func builtOf(t *testing.T, dir string, calls int) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "main.go")
	text := "package main\n\nimport \"os\"\n\nfunc main() {\n" + strings.Repeat("\tos.Remove(\"x\")\n", calls) + "}\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, source)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// What a server's program is, is read without waiting for anyone, and what cannot be read has a reason.
func TestTheCodeOfAProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make   func(t *testing.T, dir string) string
		native bool
		unread string
	}{
		"a program":       {func(t *testing.T, dir string) string { return builtOf(t, dir, 3) }, true, ""},
		"too many places": {func(t *testing.T, dir string) string { return builtOf(t, dir, 3000) }, false, "more places to watch"},
		"a named pipe": {func(t *testing.T, dir string) string {
			pipe := filepath.Join(dir, "pipe")
			if err := unix.Mkfifo(pipe, 0o700); err != nil {
				t.Fatal(err)
			}
			return pipe
		}, false, ""},
		"no program of Go": {func(t *testing.T, dir string) string {
			file := filepath.Join(dir, "elf")
			if err := os.WriteFile(file, []byte("\x7fELF\x02\x01\x01"), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := &probe{plan: plan.Plan{Server: plan.Server{Command: []string{c.make(t, dir)}, ServerDir: dir}}}
			got := make(chan *ownCode, 1)
			go func() { got <- p.startCode(t.Context(), true)() }()
			select {
			case code := <-got:
				if (code != nil) != (c.native || c.unread != "") {
					t.Fatalf("%+v", code)
				}
				if code != nil && ((code.native != nil) != c.native || !strings.Contains(code.unread, c.unread)) {
					t.Errorf("%+v", code)
				}
			case <-time.After(time.Minute):
				t.Fatal("it waits for someone")
			}
		})
	}
}

// Who waits for the code waits no longer than for the run.
func TestTheCodeIsNotAwaitedAfterTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &probe{plan: plan.Plan{Server: plan.Server{Command: []string{builtOf(t, dir, 3)}, ServerDir: dir}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := p.startCode(ctx, true)(); code != nil && code.unread == "" {
		t.Errorf("%+v", code)
	}
}
