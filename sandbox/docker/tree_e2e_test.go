//go:build linux && e2e

package docker

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

func TestServerDirInContainer(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	for where, dir := range serverDirs(t) {
		t.Run(where, func(t *testing.T) {
			put(t, dir, map[string]string{
				"sub/run.sh": "#!/bin/sh\necho ran\n", "passwd -> /etc/passwd": "", "shadow -> /etc/host-only": "", ".env": "TOKEN=real",
			})
			if err := os.Chmod(filepath.Join(dir, "sub/run.sh"), 0o700); err != nil {
				t.Fatal(err)
			}
			const script = `cd "$0" && sub/run.sh; cat .env; readlink passwd; cat shadow 2>/dev/null || echo dangling
				echo more >>sub/run.sh && rm .env && echo written >new && ls; stat -c %u:%g:%a . sub/run.sh
				stat -c %u:%g:%a "$(dirname "$0")"; dd if=/dev/zero of=big bs=1M count=300 2>&1 | grep -o -i "no space left"`
			spec, _ := specFor(t, debian, "sh", "-c", script, dir)
			spec.ServerDir, spec.Limits.File = dir, 0
			rec, _ := outcome(t, spec)
			want := "ran\n/etc/passwd\ndangling\nnew\npasswd\nshadow\nsub\n1000:1000:755\n1000:1000:700\n0:0:755\nNo space left\n"
			if rec.Out() != want {
				t.Errorf("got\n%s\nwant\n%s\nstderr: %s", rec.Out(), want, rec.Err())
			}
			host, err := os.ReadDir(dir)
			if err != nil || len(host) != 4 || slices.ContainsFunc(host, func(e os.DirEntry) bool { return e.Name() == "new" }) {
				t.Errorf("on the host: %v, %v", host, err)
			}
		})
	}
}

func TestServerFileInContainer(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	for where, dir := range serverDirs(t) {
		t.Run(where, func(t *testing.T) {
			put(t, dir, map[string]string{"run.sh": "echo ran; ls \"$(dirname \"$0\")\"\n", "other": ""})
			spec, _ := specFor(t, debian, "sh", filepath.Join(dir, "run.sh"))
			spec.ServerDir = filepath.Join(dir, "run.sh")
			rec, _ := outcome(t, spec)
			if rec.Out() != "ran\nrun.sh\n" {
				t.Errorf("got %q, stderr %q", rec.Out(), rec.Err())
			}
		})
	}
}

func TestServerDirTooLarge(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(maxTree+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	spec, _ := specFor(t, debian, "true")
	spec.ServerDir = dir
	_, err = New("").Start(t.Context(), spec)
	var usage *sandbox.UsageError
	if !errors.As(err, &usage) || usage.Hint == "" {
		t.Errorf("got %v", err)
	}
}

// serverDirs are trees at the kinds of places that a server's directory can have.
func serverDirs(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{"below /tmp": t.TempDir()}
	if dir, err := os.MkdirTemp("/opt", "server"); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		dirs["elsewhere"] = dir
	}
	return dirs
}

// Nothing that is a secret can be read in the container, however deep it lies; what git
// ignores is absent, and what is beside it is there.
func TestNoSecretInContainer(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	dir := t.TempDir()
	sandboxtest.PlantSecrets(t, dir)
	spec, _ := specFor(t, debian, "sh", "-c", sandboxtest.FindSecrets, dir)
	spec.ServerDir = dir
	rec, _ := outcome(t, spec)
	if rec.Out() != sandboxtest.NoSecrets {
		t.Errorf("got\n%s\nwant\n%s\nstderr: %s", rec.Out(), sandboxtest.NoSecrets, rec.Err())
	}
}
