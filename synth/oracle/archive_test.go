package oracle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
	"testing"
)

// Each archive has an ordinary member, and one that comes to its aim from any directory: by its
// name, or through a link that the archive brings along.
func TestArchives(t *testing.T) {
	w := world(t)
	aims := map[string]bool{}
	for _, a := range w.Archives {
		names := namesOf(t, a.Data, a.Path)
		last := names[len(names)-1]
		to := path.Join("/data/a/b", last)
		switch {
		case strings.HasPrefix(a.Context, "absolute"):
			to = last
		case strings.HasPrefix(a.Context, "link"):
			to = path.Join(path.Dir(a.Aim), path.Base(last))
		}
		if names[0] != "index.txt" || to != a.Aim+archiveSuffix || aims[a.Aim] {
			t.Errorf("%s: %q leads to %s, want %s", a.Context, names, to, a.Aim)
		}
		aims[a.Aim] = true
		in := a.Archived(false)
		if in.Text != a.Path || in.Path != a.Aim || in.Token != path.Base(a.Aim) {
			t.Errorf("%+v", in)
		}
	}
	if len(w.Archives) != len(escapesOf)*len(archiveNames) {
		t.Errorf("%d archives", len(w.Archives))
	}
}

// namesOf are the names of an archive's members.
func namesOf(t *testing.T, data []byte, name string) []string {
	t.Helper()
	var out []string
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
			t.Fatal(err)
		}
		for _, f := range z.File {
			out = append(out, f.Name)
		}
		return out
	}
	var from io.Reader = bytes.NewReader(data)
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		from = z
	}
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			t.Fatal(err)
		}
		out = append(out, h.Name)
	}
}
