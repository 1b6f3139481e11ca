package oracle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Archive is a planted archive with a member that leads out of the directory into which the archive
// is unpacked.
type Archive struct {
	// Path is the archive's own, Context says by what the member leads out.
	Path, Context string
	// Aim is where the member leads, without suffix: nothing is there.
	Aim string
	// Data is the archive.
	Data []byte
}

// archiveNames are the names of archives by their format, archiveSuffix that of the member.
var archiveNames = []struct{ name, format string }{{"photos.zip", "zip"}, {"samples.tar", "tar"}, {"templates.tar.gz", "gzip"}}

const archiveSuffix = ".txt"

// member is a file, or a symbolic link, of an archive.
type member struct{ name, text, link string }

// escapesOf are the members that lead out, by their context. Each archive has an ordinary member, too.
var escapesOf = []struct {
	context string
	members func(aim string) []member
}{
	{"dot-dot", func(aim string) []member { return []member{{name: climb("../") + aim[1:], text: "notes\n"}} }},
	{"absolute", func(aim string) []member { return []member{{name: aim, text: "notes\n"}} }},
	{"link to a directory", func(aim string) []member {
		return []member{{name: "latest", link: path.Dir(aim)}, {name: "latest/" + path.Base(aim), text: "notes\n"}}
	}},
}

// newArchives makes the archives of a world: each way out in each format. What they make has the
// same names in every run, so that a replay finds it.
func newArchives(w *World) ([]Archive, error) {
	var out []Archive
	for i, e := range escapesOf {
		for k, a := range archiveNames {
			aim := path.Join(path.Dir(w.Outside.Stem), Token(0, "archive", i*len(archiveNames)+k))
			data, err := packed(a.format, append([]member{{name: "index.txt", text: "an index\n"}}, e.members(aim+archiveSuffix)...))
			if err != nil {
				return nil, fmt.Errorf("make an archive to plant: %w", err)
			}
			name := fmt.Sprintf("%d-%s", 2021+i, a.name)
			out = append(out, Archive{Path: path.Join(w.Root, "data", "old", name), Context: e.context + ", " + a.format, Aim: aim, Data: data})
		}
	}
	return out, nil
}

// packed writes members in a format.
func packed(format string, members []member) ([]byte, error) {
	if format == "zip" {
		return zipOf(members)
	}
	data, err := tarOf(members)
	if err != nil || format != "gzip" {
		return data, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func zipOf(members []member) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		h.SetMode(0o644)
		text := m.text
		if m.link != "" { // a link's text is what it leads to
			h.SetMode(0o777 | fs.ModeSymlink)
			text = m.link
		}
		f, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write([]byte(text)); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func tarOf(members []member) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text)), Typeflag: tar.TypeReg, ModTime: written, Format: tar.FormatUSTAR}
		if m.link != "" {
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, m.link, 0o777
		}
		if len(m.name) > 100 || len(m.link) > 100 {
			h.Format = tar.FormatPAX
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(m.text)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// archiveFiles are what is to be planted of archives.
func (w *World) archiveFiles() []rootfs.File {
	if len(w.Archives) == 0 {
		return nil
	}
	dir := path.Dir(w.Archives[0].Path)
	out := []rootfs.File{{Path: dir, Mode: 0o755, Dir: true, ModTime: written}}
	for _, a := range w.Archives {
		out = append(out, rootfs.File{Path: a.Path, Mode: 0o644, Data: a.Data, ModTime: written})
	}
	return out
}

// Archived is the input of an archive: its path, or it itself in digits of base 64.
func (a *Archive) Archived(digits bool) Input {
	in := Input{Text: a.Path, Injection: session.Injection{Oracle: session.OracleArchive, Context: a.Context, Token: path.Base(a.Aim), Path: a.Aim}}
	if digits {
		in.Text = base64.StdEncoding.EncodeToString(a.Data)
	}
	return in
}
