package install

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// marked makes a directory with one file in it, and returns a check that nothing in
// it has changed.
func marked(t testing.TB) (dir string, unchanged func() error) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "marker"), []byte("of the user"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, func() error {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			return fmt.Errorf("the directory outside holds %v: %w", entries, err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "marker")); err != nil || string(data) != "of the user" {
			return fmt.Errorf("the marker holds %q: %w", data, err)
		}
		return nil
	}
}

// staysInside reports a link below a directory through which the kernel would leave it.
func staysInside(dir string) error {
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink == 0 {
			return err
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil // it leads nowhere
		}
		if real != top && !strings.HasPrefix(real, top+"/") {
			return fmt.Errorf("%s leads to %q", path, real)
		}
		return nil
	})
}

// drawTree draws the entries of a tree in which links lead to links, up, down, out and
// nowhere. Names are few, so that links meet.
func drawTree(t *rapid.T, outside string) map[string]string {
	name := rapid.SampledFrom([]string{"a", "b", "c", "node_modules", ".venv", ".bin"})
	path := rapid.Custom(func(t *rapid.T) string {
		return filepath.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "path")...)
	})
	target := rapid.Custom(func(t *rapid.T) string {
		part := rapid.SampledFrom([]string{"a", "b", "c", "..", "../..", ".", "node_modules", ".venv", strings.Repeat("../", 12) + outside[1:]})
		text := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "target"), "/")
		if rapid.IntRange(0, 9).Draw(t, "absolute") == 0 {
			return outside + "/" + text
		}
		return text
	})
	entries := map[string]string{}
	for range rapid.IntRange(1, 12).Draw(t, "entries") {
		to := ""
		if rapid.IntRange(0, 3).Draw(t, "kind") > 0 {
			to = target.Draw(t, "link")
		}
		entries[path.Draw(t, "name")] = to
	}
	return entries
}

// No link of a checkout, through whatever others, leads out of its copy.
func TestNoLinkLeadsOutOfACheckout(t *testing.T) {
	outside, unchanged := marked(t)
	rapid.Check(t, func(rt *rapid.T) {
		from, to := t.TempDir(), t.TempDir()
		entries := drawTree(rt, outside)
		for name, target := range entries {
			path := filepath.Join(from, name)
			if !plain(from, filepath.Dir(name)) || os.MkdirAll(filepath.Dir(path), 0o755) != nil {
				continue
			}
			if target == "" {
				_ = os.WriteFile(path, []byte(name), 0o644)
			} else {
				_ = os.Symlink(target, path)
			}
		}
		if _, _, err := copyCheckout(from, to, ""); err != nil {
			rt.Fatal(err)
		}
		if err := errors.Join(staysInside(to), unchanged()); err != nil {
			rt.Fatalf("%q: %v", entries, err)
		}
	})
}

// plain reports whether the way to a directory holds no link, so that what the test
// writes stays in its tree.
func plain(top, dir string) bool {
	root, err := os.OpenRoot(top)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	for ; dir != "."; dir = filepath.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// Nor does one whose text alone stays inside, by way of another that climbs.
func TestAChainOfLinksIsLeftOut(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(from, "d", "e"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"d/e/up": "../..", "out": "d/e/up/../../../etc", "loop": "loop", "up": "d/e/up"} {
		if err := os.Symlink(target, filepath.Join(from, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, dropped, err := copyCheckout(from, to, ""); err != nil || !slices.Equal(dropped, []string{"loop", "out"}) {
		t.Errorf("left out %q: %v", dropped, err)
	}
}

// The same holds for what a build sends, whose names and links come in any order.
func TestNoLinkLeadsOutOfABuiltTree(t *testing.T) {
	outside, unchanged := marked(t)
	rapid.Check(t, func(rt *rapid.T) {
		entries := drawTree(rt, outside)
		var headers []tar.Header
		for _, name := range rapid.Permutation(slices.Sorted(keys(entries))).Draw(rt, "order") {
			if target := entries[name]; target != "" {
				kind := rapid.SampledFrom([]byte{tar.TypeSymlink, tar.TypeSymlink, tar.TypeLink}).Draw(rt, "type")
				headers = append(headers, tar.Header{Typeflag: kind, Name: name, Linkname: target})
			} else {
				headers = append(headers, tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644})
			}
		}
		to := t.TempDir()
		_, _ = NewBuilt(bytes.NewReader(archive(t, headers...))).Tree(to, "/home/user/src/x") // an error is as good
		if err := errors.Join(staysInside(to), unchanged()); err != nil {
			rt.Fatalf("%+v: %v", headers, err)
		}
	})
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// A link into the place where a build saw its tree stays one.
func TestLinksOfABuildIntoItsTreeStay(t *testing.T) {
	dir := t.TempDir()
	dropped, err := NewBuilt(bytes.NewReader(archive(t,
		tar.Header{Typeflag: tar.TypeReg, Name: "./lib/x.js", Mode: 0o644},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "./bin/x", Linkname: "/home/user/src/x/lib/x.js"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "./bin/y", Linkname: "../lib/x.js"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "./bin/sh", Linkname: "/bin/sh"},
	))).Tree(dir, "/home/user/src/x")
	if err != nil || !slices.Equal(dropped, []string{"bin/sh"}) {
		t.Fatalf("left out %q: %v", dropped, err)
	}
	for _, name := range []string{"bin/x", "bin/y"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != "./lib/x.js" {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
}

// What an installation writes is never written through a link of the checkout.
func TestReservedNamesAreNoLinks(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(from, "src", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"node_modules", ".venv", buildPlace, binGo, "vendor", "src/node_modules"}
	for _, name := range names {
		if err := os.Symlink("src/deep", filepath.Join(from, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, dropped, err := copyCheckout(from, to, "")
	if err != nil || !slices.Equal(dropped, slices.Sorted(slices.Values(names))) {
		t.Errorf("left out %q: %v", dropped, err)
	}
}

// A wheel brings neither an interpreter nor what tells one where it lives.
func TestWheelsDoNotDecideTheRuntime(t *testing.T) {
	for _, name := range []string{
		"notes-1.0.data/data/pyvenv.cfg", "notes-1.0.data/data/bin/pyvenv.cfg", "notes-1.0.data/scripts/python", "notes-1.0.data/data/bin/python3", "notes-1.0.data/scripts/python3.11",
		"notes-1.0.data/scripts/../pyvenv.cfg", "notes-1.0.data/purelib/../../../pyvenv.cfg", "notes-1.0.data/scripts/python._pth", "notes-1.0.data/scripts/pypy3",
		"notes-1.0.data/data/lib/python3.11/sitecustomize.py", "notes-1.0.data/data/lib/python3.11", "notes-1.0.data/data/lib/python311.zip", "notes-1.0.data/data/lib64/python3.11/os.py",
		"../../../pyvenv.cfg",
	} {
		dir := zipped(t, name, "home = /root\n")
		if err := layOut(below(t, dir), debian); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
	for _, name := range []string{"notes-1.0.data/scripts/python-argcomplete", "notes-1.0.data/data/lib/pkgconfig/x.pc", "notes-1.0.data/data/lib/python3.11/site-packages/x.py", "notes/pyvenv.cfg", "python/__init__.py"} {
		if err := layOut(below(t, zipped(t, name, "x")), debian); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	tree := &Tree{}
	tree.addScripts("[console_scripts]\npython = a:b\n.. = a:b\nok = a:b\n", true)
	if len(tree.Bins) != 1 || tree.Bins[0].Name != "ok" {
		t.Errorf("programs %v", tree.Bins)
	}
}

// Whatever names a wheel has, the environment's interpreter is the sandbox's, and
// nothing outside changes.
func FuzzWheel(f *testing.F) {
	for _, s := range []string{"a.py", "x.data/data/pyvenv.cfg", "x.data/scripts/python", "../x", "x.data/data/bin", "x.data/data/lib", "x.data/platlib/../../../bin/python3", "/etc/passwd", "x.data/headers/../pyvenv.cfg"} {
		f.Add(s, "y.data/scripts/t")
	}
	outside, unchanged := marked(f)
	f.Fuzz(func(t *testing.T, first, second string) {
		if len(first)+len(second) > 300 {
			return
		}
		dir := zipped(t, first, "home = "+outside, second, "x")
		err := layOut(below(t, dir), debian)
		if err := unchanged(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		if to, err := os.Readlink(filepath.Join(dir, "bin/python")); err != nil || to != debian.Executable {
			t.Errorf("%q, %q: bin/python leads to %q: %v", first, second, to, err)
		}
		if cfg, err := os.ReadFile(filepath.Join(dir, "pyvenv.cfg")); err != nil || string(cfg) != debian.config() {
			t.Errorf("%q, %q: pyvenv.cfg holds %q: %v", first, second, cfg, err)
		}
	})
}

// An environment takes the place of a link, and does not follow it.
func TestAnEnvironmentReplacesALink(t *testing.T) {
	outside, unchanged := marked(t)
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, ".venv")); err != nil {
		t.Fatal(err)
	}
	f := &Fetcher{Cache: Cache{t.TempDir()}}
	if _, err := f.environmentAt(t.Context(), below(t, dir), ".venv", "x", nil, debian); err != nil {
		t.Fatal(err)
	}
	if err := unchanged(); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, ".venv")); err != nil || !info.IsDir() {
		t.Errorf("%v %v", info, err)
	}
}

// The wheel that a build left is not looked for through its links.
func TestABuildsWheelIsNoLink(t *testing.T) {
	outside, _ := marked(t)
	if err := os.WriteFile(filepath.Join(outside, "x-1-py3-none-any.whl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(dir string) error{
		"the place": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, buildPlace), 0o755), os.Symlink(outside, filepath.Join(dir, buildPlace, "out")))
		},
		"the wheel": func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, buildPlace, "out"), 0o755), os.Symlink(filepath.Join(outside, "x-1-py3-none-any.whl"), filepath.Join(dir, buildPlace, "out", "x-1-py3-none-any.whl")))
		},
	} {
		dir := t.TempDir()
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := madeWheel(below(t, dir)); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}
