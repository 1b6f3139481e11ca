package synth

import (
	"archive/zip"
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A folder that the source names has documents of the types that it names, each below a directory that is there.
func TestFolders(t *testing.T) {
	t.Parallel()
	made := func(names ...string) (files, dirs []string) {
		there := map[string]bool{"/home/sam": true, "/home/sam/Pictures": true, "/w": true, "/home": true}
		for _, f := range Folders("/home/sam", "/w", 7, func(name string) bool { return slices.Contains(names, name) }, func(dir string) bool { return there[dir] }) {
			if !there[filepath.Dir(f.Path)] {
				t.Errorf("%s comes before its directory", f.Path)
			}
			if there[f.Path] {
				t.Errorf("%s is planted twice", f.Path)
			}
			there[f.Path] = true
			if f.Dir {
				dirs = append(dirs, f.Path)
			} else {
				files = append(files, f.Path)
			}
		}
		return files, dirs
	}
	if files, dirs := made(); len(files)+len(dirs) > 0 {
		t.Errorf("%q, %q", files, dirs)
	}
	files, dirs := made("Pictures", ".png", "vault")
	if len(files) != 3 || !strings.HasPrefix(files[0], "/home/sam/Pictures/") || !strings.HasSuffix(files[0], ".png") || !slices.Equal(dirs, []string{"/home/sam/vault", "/w/vault"}) {
		t.Errorf("%q, %q", files, dirs)
	}
	if files, _ = made("Notes"); len(files) != 3 || !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "/Notes/report.md") }) {
		t.Errorf("%q", files)
	}
	if files, dirs = made("~/src"); !slices.Contains(files, "/home/sam/src/"+repoName+"/.git/HEAD") || !slices.Contains(dirs, "/home/sam/src") {
		t.Errorf("%q, %q", files, dirs)
	}
}

// The first part of a book says what it is, as readers of EPUB check.
func TestBook(t *testing.T) {
	t.Parallel()
	data, err := drawWork(7).book()
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(z.File) != 5 || z.File[0].Name != "mimetype" {
		t.Errorf("%v, %v", z, err)
	}
}
