package install

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
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

// compiling is a sandbox that compiles all modules of a Job.
func compiling(out io.Writer, j Job) (Result, error) {
	w := tar.NewWriter(out)
	for name := range j.Files {
		compiled := filepath.Join(filepath.Dir(name), "__pycache__", strings.TrimSuffix(filepath.Base(name), ".py")+".cpython-311.pyc")
		if err := w.WriteHeader(&tar.Header{Name: compiled, Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			return Result{}, err
		}
	}
	return Result{}, w.Close()
}

// However large an environment is, each sandbox gets no more modules than fit into its configuration.
func TestModulesFitIntoTheConfiguration(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		most, modules, size, dirs int
		jobs, compiled            int
	}{
		"few":            {MaxFiles, 10, 1024, 1, 1, 10},
		"none":           {MaxFiles, 0, 0, 1, 0, 0},
		"large together": {mib, 30, mib / 30, 1, 2, 30},
		"too large":      {MaxFiles, 50, 2*mib - 10, 1, 3, 48},
		"long names":     {mib, 80, 10, 18, 2, 80},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			packages := filepath.Join(dir, debian.packages(), filepath.Join(slices.Repeat([]string{strings.Repeat("\x01", 200)}, c.dirs)...))
			if err := os.MkdirAll(packages, 0o755); err != nil {
				t.Fatal(err)
			}
			for i := range c.modules {
				f, err := os.Create(filepath.Join(packages, fmt.Sprintf("m%d.py", i)))
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(f.Truncate(int64(c.size)), f.Close()); err != nil {
					t.Fatal(err)
				}
			}
			jobs, compiled := 0, 0
			f := &Fetcher{Sandbox: func(_ context.Context, j Job, out io.Writer) (Result, error) {
				var files []rootfs.File
				for name, data := range j.Files {
					files = append(files, rootfs.File{Path: JobDir + "/" + name, Mode: 0o644, Data: data})
				}
				b, err := json.Marshal(files)
				if err != nil || len(b) > c.most {
					t.Errorf("the files of a job take %d bytes: %v", len(b), err)
				}
				jobs, compiled = jobs+1, compiled+len(j.Files)
				return compiling(out, j)
			}}
			if err := (&pip{f: f, python: debian.Executable}).compileWithin(t.Context(), below(t, dir), debian, c.most); err != nil {
				t.Fatal(err)
			}
			made, _ := filepath.Glob(filepath.Join(packages, "__pycache__", "*.pyc"))
			if jobs != c.jobs || compiled != c.compiled || len(made) != c.compiled {
				t.Errorf("%d modules in %d jobs, %d compiled, want %d in %d", compiled, jobs, len(made), c.compiled, c.jobs)
			}
		})
	}
}

// What could not be compiled is kept, and compiled later without being fetched again.
func TestACompilationIsTriedAgain(t *testing.T) {
	f := &Fetcher{Cache: Cache{Dir: t.TempDir()}}
	fetched, fail := 0, true
	f.Sandbox = func(_ context.Context, j Job, out io.Writer) (Result, error) {
		switch {
		case j.Script != compileScript:
			fetched++
			wheels := os.DirFS(filepath.Join(zipped(t, "notes/__init__.py", "x"), "wheels"))
			w := tar.NewWriter(out)
			return Result{}, errors.Join(w.AddFS(wheels), w.Close())
		case fail:
			return Result{}, errors.New("no room")
		}
		return compiling(out, j)
	}
	data, err := os.ReadFile(filepath.Join(zipped(t, "notes/__init__.py", "x"), "wheels", "notes-1.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	wheels := []wheel{{"notes", "1.0", hex.EncodeToString(sum[:])}}
	fill := func() string {
		temp, err := f.Cache.Temp()
		if err != nil {
			t.Fatal(err)
		}
		dir, err := (&pip{f: f, python: debian.Executable}).fill(t.Context(), temp, "notes", wheels, debian, "plain", "compiled")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, debian.packages(), "notes/__init__.py")); err != nil {
			t.Error(err)
		}
		return filepath.Base(dir)
	}
	for i, want := range []string{"plain", "plain", "compiled"} {
		fail = i < 2
		if got := fill(); got != want || fetched != 1 {
			t.Errorf("try %d: it is kept as %s, want %s; fetched %d times", i, got, want, fetched)
		}
	}
	made := filepath.Join(f.Cache.Dir, "compiled", debian.packages(), "notes/__pycache__/__init__.cpython-311.pyc")
	if _, err := os.Stat(made); err != nil {
		t.Error(err)
	}
	if to, err := os.Readlink(filepath.Join(f.Cache.Dir, "compiled/bin/python")); err != nil || to != debian.Executable {
		t.Errorf("bin/python leads to %q: %v", to, err)
	}
}
