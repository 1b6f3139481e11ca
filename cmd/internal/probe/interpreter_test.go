package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestInterpreterOfACommand(t *testing.T) {
	dir := t.TempDir()
	for name, head := range map[string]string{
		"plain": "#!/usr/bin/node\n0", "env": "#!/usr/bin/env -S LANG=C python3 -u\n", "shell": "#! /bin/sh -e\n", "other": "#!/usr/bin/awk -f\n", "elf": "\x7fELF",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(head), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"/opt/python3.12 -m x": "/opt/python3.12", "node x.js": "node", "ruby3.1 x": "ruby3.1", "nodemon x": "", "absent x": "",
		dir + "/plain": "/usr/bin/node", dir + "/env": "python3", dir + "/shell": "/bin/sh", dir + "/other": "", dir + "/elf": "",
	} {
		if got := interpreter(strings.Fields(command), exec.LookPath); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
