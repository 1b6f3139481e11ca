package local

import (
	"os"
	"path/filepath"
	"testing"
)

// Nothing in a tree that others wrote decides what of this machine a sandbox shows:
// not the link in the place of an interpreter, not its first line, not its pyvenv.cfg.
func TestAForeignTreeShowsNothing(t *testing.T) {
	user := t.TempDir()
	for _, dir := range []string{"secret/bin", "secret/lib"} {
		must(t, os.MkdirAll(filepath.Join(user, dir), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(user, "secret/bin/python3"), []byte("#!/bin/sh\n"), 0o755))
	for name, plant := range map[string]func(tree string) error{
		"a link": func(tree string) error {
			return os.Symlink(filepath.Join(user, "secret/bin/python3"), filepath.Join(tree, "bin/run"))
		},
		"a link to a directory": func(tree string) error {
			must(t, os.Remove(filepath.Join(tree, "bin")))
			return os.Symlink(filepath.Join(user, "secret/bin"), filepath.Join(tree, "bin"))
		},
		"a first line": func(tree string) error {
			return os.WriteFile(filepath.Join(tree, "bin/run"), []byte("#!"+filepath.Join(user, "secret/bin/python3")+"\n"), 0o755)
		},
		"env's first line": func(tree string) error {
			return os.WriteFile(filepath.Join(tree, "bin/run"), []byte("#!/usr/bin/env "+filepath.Join(user, "secret/bin/python3")+"\n"), 0o755)
		},
		"a configuration": func(tree string) error {
			must(t, os.WriteFile(filepath.Join(tree, "bin/run"), []byte("\x7fELF"), 0o755))
			return os.WriteFile(filepath.Join(tree, "pyvenv.cfg"), []byte("home = "+filepath.Join(user, "secret/bin")+"\n"), 0o644)
		},
	} {
		tree := t.TempDir()
		must(t, os.Mkdir(filepath.Join(tree, "bin"), 0o755))
		must(t, plant(tree))
		h := host{cwd: "/", home: user, path: []string{"/usr/bin"}, env: os.Getenv, shown: "/home/user/src/x", from: tree}
		got, err := resolve(h, []string{"/home/user/src/x/bin/run"}, []string{"/usr", "/bin"})
		if err != nil {
			continue // it is refused
		}
		if len(got.binds) > 0 || len(got.links) > 0 || len(got.path) > 0 {
			t.Errorf("%s: shown %+v %+v, searched %q", name, got.binds, got.links, got.path)
		}
	}
}
