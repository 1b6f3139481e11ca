package oracle

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// World is what is planted around a server's root for inputs to aim at. Each
// file has a text of its own, so that what comes back says which was read.
type World struct {
	// Root is the directory that the server is to work in.
	Root string
	// Outside lies in HOME, Beside in a directory whose name begins with the
	// root's, Linked is what a link within the root leads to; InLinked lies in a
	// directory that a link within the root leads to.
	Outside, Beside, Linked, InLinked File
	// Services are the real services beside the server.
	Services []string
	// Link and LinkDir are those links.
	Link, LinkDir string
	// Archives lie in the root.
	Archives []Archive
}

// File is a planted file.
type File struct {
	// Stem is its path without suffix: it is there under several.
	Stem string
	// Value stands in it and nowhere else.
	Value string
}

// suffixes are those under which a file is planted: servers that take a name
// put one behind it.
var suffixes = []string{".txt", ".md", ".json"}

// NewWorld lays out a world around root; values are drawn from random.
func NewWorld(root, home string, random io.Reader) (*World, error) {
	var seed [32]byte
	if _, err := io.ReadFull(random, seed[:]); err != nil {
		return nil, fmt.Errorf("draw the texts of planted files: %w", err)
	}
	r := rand.New(rand.NewChaCha8(seed))
	value := func() string {
		return "ref " + Token(int64(binary.LittleEndian.Uint64(seed[:8])), "value", int(r.Uint32()))
	}
	documents, beside := path.Join(home, "Documents"), root+"-old"
	w := &World{
		Root:    root,
		Outside: File{path.Join(documents, "lease"), value()}, Beside: File{path.Join(beside, "ledger"), value()},
		Linked: File{path.Join(documents, "invoice"), value()}, InLinked: File{path.Join(home, "Archive", "statement"), value()},
		Link: path.Join(root, "docs", "invoice"), LinkDir: path.Join(root, "archive"),
	}
	var err error
	w.Archives, err = newArchives(w)
	return w, err
}

// Value is the text of a planted file by its path without suffix, "" for none.
func (w *World) Value(stem string) string {
	for _, f := range []File{w.Outside, w.Beside, w.Linked, w.InLinked} {
		if f.Stem == stem {
			return f.Value
		}
	}
	return ""
}

// written is when the files were last changed.
var written = time.Date(2026, time.January, 19, 8, 40, 0, 0, time.UTC)

// Files are what is to be planted.
func (w *World) Files() []rootfs.File {
	var out []rootfs.File
	made := map[string]bool{}
	for _, f := range []File{w.Outside, w.Beside, w.Linked, w.InLinked} {
		if dir := path.Dir(f.Stem); !made[dir] {
			made[dir] = true
			out = append(out, rootfs.File{Path: dir, Mode: 0o755, Dir: true, ModTime: written})
		}
		for _, s := range suffixes {
			out = append(out, rootfs.File{Path: f.Stem + s, Mode: 0o644, Data: []byte(text(s, f.Value)), ModTime: written})
		}
	}
	for _, s := range suffixes {
		out = append(out, rootfs.File{Path: w.Link + s, Link: w.Linked.Stem + s})
	}
	return append(append(out, rootfs.File{Path: w.LinkDir, Link: path.Dir(w.InLinked.Stem)}), w.archiveFiles()...)
}

func text(suffix, value string) string {
	if suffix == ".json" {
		return fmt.Sprintf("{\n  \"note\": %q\n}\n", value)
	}
	return "Kept for the accountant.\n\n" + value + "\n"
}
