package docker

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTheServersDirectoryInAnImage(t *testing.T) {
	files := map[string]bool{ // and whether it is a directory
		"/app": true, "/app/dist": true, "/app/dist/index.js": false, "/app/package.json": false, "/opt/x/server.py": false, "/server.py": false, "/usr/bin/node": false, "/app/data": true,
	}
	stat := func(file string) (isDir, ok bool) { isDir, ok = files[file]; return isDir, ok }
	for _, c := range []struct {
		workdir string
		command []string
		want    string
	}{
		{"/app", []string{"node", "dist/index.js"}, "/app"}, {"", []string{"node", "/app/dist/index.js"}, "/app"}, {"/", []string{"/usr/bin/node", "/app/dist/index.js", "/app/data"}, "/app"},
		{"/app", []string{"python", "/opt/x/server.py"}, "/opt/x"}, {"/app", []string{"mcp-server"}, "/app"}, {"/app/", []string{"node", "../../etc/x.js"}, "/app"},
		{"", []string{"python", "/server.py"}, ""}, {"/", []string{"server"}, ""}, {"/root", []string{"server"}, ""}, {"app", []string{"server"}, ""}, {"", nil, ""},
	} {
		if got := sourceDir(c.workdir, c.command, stat); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.workdir, c.command, got, c.want)
		}
	}
}

// Whatever an image holds, nothing is written outside, and nothing but files is made.
func TestAnImagesSourceIsHostile(t *testing.T) {
	outside := t.TempDir()
	unpacked := func(headers ...tar.Header) (string, int, error) {
		var b bytes.Buffer
		a := tar.NewWriter(&b)
		for _, h := range headers {
			if h.Typeflag == tar.TypeReg {
				h.Size = 1
			}
			if err := a.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if h.Typeflag == tar.TypeReg {
				_, _ = a.Write([]byte("x"))
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		n, err := unpackSource(to, "app", &b)
		return to, n, err
	}
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o4755} }
	for _, name := range []string{"app/../../x", outside + "/x", "other/x", "app"} {
		if _, _, err := unpacked(file(name)); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
	to, n, err := unpacked(tar.Header{Typeflag: tar.TypeDir, Name: "app/"}, file("app/a/x.py"), tar.Header{Typeflag: tar.TypeSymlink, Name: "app/l", Linkname: outside}, file("app/l/x"),
		tar.Header{Typeflag: tar.TypeLink, Name: "app/m", Linkname: "/etc/passwd"}, tar.Header{Typeflag: tar.TypeChar, Name: "app/c"}, file("app/node_modules/y/z.js"))
	if err != nil || n != 2 {
		t.Errorf("%d files, %v", n, err)
	}
	if info, err := os.Lstat(filepath.Join(to, "app", "a", "x.py")); err != nil || info.Mode().Perm()&0o111 != 0 {
		t.Errorf("%v %v", info, err)
	}
	for _, name := range []string{"m", "c", "node_modules"} {
		if _, err := os.Lstat(filepath.Join(to, "app", name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("written outside: %v %v", left, err)
	}
}
