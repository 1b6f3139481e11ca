package install

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Of what a compilation printed, only the bytecode of the environment's own modules is taken.
func TestModulesAreCompiled(t *testing.T) {
	dir := t.TempDir()
	packages := filepath.Join(dir, debian.packages())
	for name, text := range map[string]string{"a/__init__.py": "x = 1\n", "b.py": "y = 2\n", "a/data.txt": "z", "large.py": strings.Repeat("#", maxModule+1)} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(packages, name)), 0o755), os.WriteFile(filepath.Join(packages, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var shown []string
	f := &Fetcher{Sandbox: func(_ context.Context, j Job, out io.Writer) (Result, error) {
		shown = slices.Sorted(maps.Keys(j.Files))
		w := tar.NewWriter(out)
		for _, name := range []string{"site/a/__pycache__/__init__.cpython-311.pyc", "site/__pycache__/b.cpython-311.pyc", "site/__pycache__/other.cpython-311.pyc", "site/b.py", "site/sitecustomize.pyc", "site/a/__pycache__/x.so", "elsewhere/__pycache__/b.cpython-311.pyc"} {
			if err := errors.Join(w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 4, Typeflag: tar.TypeReg}), func() error { _, err := w.Write([]byte("code")); return err }()); err != nil {
				return Result{}, err
			}
		}
		return Result{}, w.Close()
	}}
	if err := (&pip{f: f, python: debian.Executable}).compile(t.Context(), below(t, dir), debian); err != nil {
		t.Fatal(err)
	}
	if want := []string{"site/a/__init__.py", "site/b.py"}; !slices.Equal(shown, want) {
		t.Errorf("%q were compiled, want %q", shown, want)
	}
	var got []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(packages, name)
			got = append(got, rel)
		}
		return err
	})
	want := []string{"__pycache__/b.cpython-311.pyc", "a/__init__.py", "a/__pycache__/__init__.cpython-311.pyc", "a/data.txt", "b.py", "large.py"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q (%v)", got, want, err)
	}
	// The bytecode of another interpreter is of no use.
	shown = nil
	if err := (&pip{f: f, python: debian.Executable, flags: []string{"--python-version", "3.13"}}).compile(t.Context(), below(t, dir), debian); err != nil || shown != nil {
		t.Errorf("another interpreter compiled %q: %v", shown, err)
	}
}
