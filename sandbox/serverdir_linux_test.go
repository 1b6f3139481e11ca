package sandbox

import (
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A named pipe where a program or a script is expected is not waited for.
func TestPipesAreNoCode(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "server")
	if err := unix.Mkfifo(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	if IsCode(pipe) {
		t.Error("a pipe is code")
	}
	for _, command := range [][]string{{pipe}, {"node", pipe}, {"python3", pipe}} {
		dir, _ := ServerDir("", command, exec.LookPath)
		if code := ServerCode("", command, exec.LookPath); code == pipe && dir == pipe {
			t.Errorf("%q: %s, %s", command, dir, code)
		}
	}
}
