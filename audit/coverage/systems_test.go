package coverage

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestSystems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, source string
		want               []string
	}{
		{"a branch for macOS", "server.cjs", "const { execFile } = require('child_process');\nfunction show(x) {\n  if (process.platform === 'darwin') {\n    execFile('open', [x]);\n  }\n}\nshow('a');\n", []string{"darwin"}},
		{"both", "server.py", "import os, subprocess, sys\ndef show(x):\n    if sys.platform == 'win32':\n        os.startfile(x)\n        subprocess.run(['cmd', x])\n    elif sys.platform == 'darwin':\n        subprocess.run(['open', x])\n", []string{"darwin", "win32"}},
		{"nothing that weighs", "server.cjs", "const fs = require('fs');\nconst base = process.platform === 'darwin' ? 'Library' : '.config';\n", []string{}},
		{"asks for none", "server.cjs", "const { execFile } = require('child_process');\nfunction show(x) { execFile('open', [x, 'darwin']); }\n", []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code := codeOf(t, c.file, c.source)
			recording := &Recording{}
			recording.Add([]byte("F\t1\tother\n"))
			if got := code.Systems(code.Compare(recording, "")); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// codeOf is the code of one file.
func codeOf(t *testing.T, file, source string) *Code {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	code, err := Read(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
