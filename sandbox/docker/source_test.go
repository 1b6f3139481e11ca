package docker

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// No archive has anything written outside, or anything made but the server's own files.
func FuzzUnpackSource(f *testing.F) {
	add := func(headers ...tar.Header) {
		var b bytes.Buffer
		a := tar.NewWriter(&b)
		for _, h := range headers {
			if err := a.WriteHeader(&h); err != nil {
				f.Fatal(err)
			}
			_, _ = a.Write([]byte("x")[:h.Size])
		}
		_ = a.Close()
		f.Add(b.Bytes())
	}
	add(tar.Header{Typeflag: tar.TypeDir, Name: "app/"}, tar.Header{Typeflag: tar.TypeReg, Name: "app/a.py", Size: 1}, tar.Header{Typeflag: tar.TypeSymlink, Name: "app/l", Linkname: "/"}, tar.Header{Typeflag: tar.TypeReg, Name: "app/l/x", Size: 1})
	add(tar.Header{Typeflag: tar.TypeReg, Name: "app/../../x", Size: 1})
	add(tar.Header{Typeflag: tar.TypeReg, Name: "app/node_modules/x", Size: 1}, tar.Header{Typeflag: tar.TypeLink, Name: "app/h", Linkname: "app/a"})
	f.Fuzz(func(t *testing.T, data []byte) {
		if unpackedSize(data) > 1<<20 {
			t.Skip("a sparse file, which the bound on all files holds")
		}
		around := t.TempDir()
		to := filepath.Join(around, "to")
		if err := os.Mkdir(to, 0o755); err != nil {
			t.Fatal(err)
		}
		n, err := unpackSource(to, "app", bytes.NewReader(data))
		files := 0
		walkErr := filepath.WalkDir(around, func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(to, name)
			switch {
			case name == around || name == to:
			case rel != "app" && !strings.HasPrefix(rel, "app/"):
				t.Errorf("%s was made", name)
			case slices.ContainsFunc(strings.Split(rel, "/"), func(part string) bool { return slices.Contains(notOwn, part) }):
				t.Errorf("%s is not the server's own", name)
			case e.Type().IsRegular():
				files++
			case !e.IsDir():
				t.Errorf("%s is %v", name, e.Type())
			}
			return nil
		})
		if walkErr != nil {
			t.Fatal(walkErr)
		}
		if err == nil && files != n {
			t.Errorf("%d files, and %d are told", files, n)
		}
	})
}

// unpackedSize is what the headers of an archive announce.
func unpackedSize(data []byte) (sum int64) {
	for a := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := a.Next()
		if err != nil {
			return sum
		}
		sum += h.Size
	}
}
