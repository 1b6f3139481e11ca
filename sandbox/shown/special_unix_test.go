//go:build unix

package shown

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Opening what others made waits for nobody.
func TestOpenTakesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "text")
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"file": true, "pipe": false, ".": false, "none": false} {
		f, err := Open(filepath.Join(dir, name))
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = f.Close()
		}
	}
}

// A program that this process believes is none of the checkout around it, nor of a project's packages.
func TestProgramIsNotTheCheckouts(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mine, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program := func(dir string) string {
		file := filepath.Join(dir, "strace")
		write(t, file, "#!/bin/sh\n")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	write(t, filepath.Join(top, ".git/HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(top, "src/a.js"), "")
	hostile := []string{"bin", program(filepath.Join(top, "bin")), program(filepath.Join(top, "node_modules/.bin")), program(filepath.Join(filepath.Dir(top), "node_modules/.bin"))}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(hostile[1], link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(top, "src"))
	t.Setenv("PATH", strings.Join(append(hostile, link), ":"))
	if found, err := Program("strace"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%s, %v", found, err)
	}
	t.Setenv("PATH", strings.Join(append(hostile, link, program(mine)), ":"))
	if found, err := Program("strace"); found != filepath.Join(mine, "strace") {
		t.Errorf("%s, %v", found, err)
	}
	// A home is no checkout, though git may keep what is in it.
	home := Homes
	Homes = func() []string { return []string{top} }
	defer func() { Homes = home }()
	t.Chdir(top)
	t.Setenv("PATH", hostile[1])
	if found, err := Program("strace"); err != nil {
		t.Errorf("%s, %v", found, err)
	}
}

func TestLookHidesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "server.py"), "print()")
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mknod(filepath.Join(dir, "socket"), unix.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}
	v, err := Look(t.Context(), Request{Dir: dir})
	if err != nil || !slices.Equal(v.Hidden, []string{"pipe", "socket"}) {
		t.Errorf("hidden: %q, %v", v.Hidden, err)
	}
}
