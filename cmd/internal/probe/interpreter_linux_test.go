package probe

import (
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A named pipe in the place of a program is not waited for.
func TestAPipeIsNoInterpreter(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "server")
	if err := unix.Mkfifo(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := interpreter([]string{pipe}, exec.LookPath); got != "" {
		t.Errorf("%q", got)
	}
}
