package local

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// Named pipes in the places of files that decide how a server starts are not waited for.
func TestPipesAreNotWaitedFor(t *testing.T) {
	root, home := tree(t, "env/bin/python3", "env/lib/", "bin/")
	for _, name := range []string{"env/pyvenv.cfg", "bin/server", ".tool-versions"} {
		must(t, unix.Mkfifo(filepath.Join(home, name), 0o755))
	}
	h := host{home: home, cwd: home, path: []string{filepath.Join(home, "bin")}, env: func(string) string { return "" }, bounds: shown.Bounds{Top: root}}
	if _, err := resolve(h, []string{filepath.Join(home, "env/bin/python3")}, nil); err != nil {
		t.Errorf("an environment: %v", err)
	}
	for _, name := range []string{"server", filepath.Join(home, "bin/server")} {
		if _, err := resolve(h, []string{name}, nil); err == nil {
			t.Errorf("%s is a program", name)
		}
	}
	if first, _ := firstLines(filepath.Join(home, "bin/server")); first != "" {
		t.Errorf("%q", first)
	}
	if text := readText(filepath.Join(home, ".tool-versions")); text != "" {
		t.Errorf("%q", text)
	}
}
