//go:build linux

package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// put writes a tree: a name that ends in "/" is a directory, "name -> target" a link.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path, target, isLink := strings.Cut(name, " -> ")
		path = filepath.Join(dir, path)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readTreeOf is readTree with what a backend is told.
func readTreeOf(t *testing.T, dir, from string, planted []rootfs.File, hidden []string, uid, gid int) (*tree, error) {
	t.Helper()
	spec := sandbox.Spec{ServerDir: dir, ServerFrom: from, Files: planted, Hidden: hidden, User: agent.User{UID: uid, GID: gid}}
	view, err := spec.Look(t.Context())
	if err != nil {
		return nil, err
	}
	return readTree(spec, view)
}

// packed reads what is written of a tree that was just read.
func packed(t *testing.T, tr *tree, err error) (map[string]string, []*tar.Header) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer tr.close()
	var b bytes.Buffer
	if err := tr.write(&b); err != nil {
		t.Fatal(err)
	}
	return unpack(t, &b)
}

// unpack reads an archive: link targets and file texts by name.
func unpack(t *testing.T, r io.Reader) (map[string]string, []*tar.Header) {
	t.Helper()
	got := map[string]string{}
	var headers []*tar.Header
	for a := tar.NewReader(r); ; {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return got, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a)
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = string(b) + h.Linkname
		headers = append(headers, h)
	}
}

func TestTree(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, map[string]string{"secret": "the host's own"})
	put(t, dir, map[string]string{
		"server.py": "print()", "sub/data.txt": "data", "empty/": "",
		"inner -> sub/data.txt": "", "outer -> " + outside + "/secret": "", "up -> ../../etc/passwd": "",
		"loop -> loop": "", ".env": "TOKEN=real", ".git/config": "[core]\n\tbare = false\n[http]\n\textraheader = real\n",
		"planted.txt": "real", "hidden/trace.jsonl": "an earlier run",
	})
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "server.py"), 0o4755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	tr, err := readTreeOf(t, dir, dir, []rootfs.File{{Path: filepath.Join(dir, "planted.txt"), Data: []byte("decoy")}}, []string{filepath.Join(dir, "hidden")}, 1000, 1001)
	got, headers := packed(t, tr, err)
	base := strings.TrimPrefix(dir, "/")
	want := map[string]string{
		"/": "", "/server.py": "print()", "/sub/": "", "/sub/data.txt": "data", "/empty/": "",
		"/inner": "sub/data.txt", "/outer": outside + "/secret", "/up": "../../etc/passwd", "/loop": "loop",
		"/.env": "", "/planted.txt": "",
	}
	for name, text := range want {
		if g, ok := got[base+name]; !ok || g != text {
			t.Errorf("%s: got %q (%v), want %q", name, g, ok, text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d entries, want %d: %v", len(got), len(want), got)
	}
	for _, h := range headers {
		if h.Uid != 1000 || h.Gid != 1001 || h.Mode&0o7000 != 0 {
			t.Errorf("%s: owner %d:%d, mode %o", h.Name, h.Uid, h.Gid, h.Mode)
		}
	}
}

// A tree may lie elsewhere on the host than in the container, which sees one path only.
func TestTreeFromElsewhere(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"bin/server": "x", "hidden/x": "", ".env": "TOKEN=real"})
	tr, err := readTreeOf(t, "/home/dana/.npm/_npx/1", dir, nil, []string{"/home/dana/.npm/_npx/1/hidden"}, 1000, 1000)
	got, _ := packed(t, tr, err)
	want := map[string]string{"home/dana/.npm/_npx/1/": "", "home/dana/.npm/_npx/1/bin/": "", "home/dana/.npm/_npx/1/bin/server": "x", "home/dana/.npm/_npx/1/.env": ""}
	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestTreeOfOneFile(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"server.py": "print()", "other": "not copied"})
	tr, err := readTreeOf(t, filepath.Join(dir, "server.py"), filepath.Join(dir, "server.py"), nil, nil, 1000, 1000)
	got, _ := packed(t, tr, err)
	if len(got) != 1 || got[strings.TrimPrefix(dir, "/")+"/server.py"] != "print()" {
		t.Errorf("got %v", got)
	}
}

// A file that changes while it is copied must not spoil the archive, nor lead out of the tree.
func TestTreeChangesMeanwhile(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, map[string]string{"secret": "the host's own"})
	put(t, dir, map[string]string{"a-swapped": "x", "b-gone": "x", "c-grown": "x", "d-pipe": "x", "e-last": "last"})
	tr, err := readTreeOf(t, dir, dir, nil, nil, 1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.close()
	for _, name := range []string{"a-swapped", "b-gone", "d-pipe"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, map[string]string{"a-swapped -> " + outside + "/secret": "", "c-grown": "grown"})
	if err := unix.Mkfifo(filepath.Join(dir, "d-pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := tr.write(&b); err != nil && !strings.Contains(err.Error(), "escapes") {
		t.Fatal(err)
	} else if err == nil {
		got, _ := unpack(t, &b)
		for name, text := range got {
			if strings.Contains(text, "the host's own") {
				t.Errorf("%s leads out of the tree", name)
			}
		}
		if got[strings.TrimPrefix(dir, "/")+"/e-last"] != "last" {
			t.Errorf("got %v", got)
		}
	}
}

func TestTreeRefused(t *testing.T) {
	huge := t.TempDir()
	f, err := os.Create(filepath.Join(huge, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(maxTree+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = readTree(sandbox.Spec{ServerDir: huge}, &shown.View{Real: huge})
	wantUsage(t, err, "more than 1024 MiB", "")
	for dir, reason := range map[string]string{filepath.Join(huge, "absent"): "no such file", "/": "holds more than the server"} {
		_, err := readTreeOf(t, dir, dir, nil, nil, 1000, 1000)
		wantUsage(t, err, reason, "")
	}
}
