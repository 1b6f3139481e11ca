package synth

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// Workspace is what is planted at root for a server to work on: texts, an image, documents and
// directories. The root and a directory below it are small git repositories with three commits, two
// branches, a tag, a remote and one changed file. Names, contents and times are drawn from the seed, so that no server knows them
// beforehand, and the same seed gives the same calls and the same answers. named says which names of files
// or endings of files the server's source has: files that make a directory a project stand at the root if they are named.
func Workspace(root string, seed int64, named func(name string) bool) []rootfs.File {
	w := drawWork(seed)
	var out []rootfs.File
	dirs := map[string]bool{}
	var dir func(string)
	dir = func(p string) {
		if p == "." || dirs[p] {
			return
		}
		dirs[p] = true
		dir(path.Dir(p))
		out = append(out, rootfs.File{Path: path.Join(root, p), Mode: 0o755, Dir: true, ModTime: w.changed(p)})
	}
	file := func(name string, data []byte) {
		dir(path.Dir(name))
		out = append(out, rootfs.File{Path: path.Join(root, name), Mode: 0o644, Data: data, ModTime: w.changed(name)})
	}
	out = append(out, rootfs.File{Path: root, Mode: 0o755, Dir: true, ModTime: w.at})
	for _, t := range w.texts {
		file(t.name, []byte(t.data))
	}
	file(longName, []byte(longText(seed, longFile)))
	file(w.imageName, photo(w.colour))
	file(pdfName, sinkhole.PDF(w.title))
	if sheet, err := workbook(w.items, w.counts); err == nil { // writing to memory does not fail
		file(w.sheetName, sheet)
	}
	for _, s := range slices.Concat(w.samples(), w.formats(named), w.manifests(named)) {
		file(s.name, s.data)
	}
	remote := path.Join(root, remoteName)
	for _, f := range w.history.remote() {
		name := path.Join(remoteName, f.name)
		if f.dir {
			dir(name)
			continue
		}
		file(name, f.data)
	}
	for _, below := range []string{"", repoName} {
		for _, f := range w.history.repository(remote) {
			name := path.Join(below, f.name)
			switch {
			case f.dir:
				dir(name)
			case name == excludeName:
				file(name, append(f.data, untracked(out, root)...))
			default:
				file(name, f.data)
			}
		}
	}
	return out
}

// untracked are the lines by which git leaves alone what stands at root so far: a tool that stashes or cleans
// changes the few files of the history, and not the samples for other tools.
func untracked(files []rootfs.File, root string) string {
	var out strings.Builder
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Path, root+"/"); ok && !strings.Contains(name, "/") && name != ".git" {
			out.WriteString("/" + name + "\n")
		}
	}
	return out.String()
}

// WorkspaceHints say what of Workspace(root, seed) a tool's arguments may name.
func WorkspaceHints(root string, seed int64, named func(name string) bool) schema.Hints {
	w := drawWork(seed)
	at := func(name string) string { return path.Join(root, name) }
	h := schema.Hints{
		Dirs:   []string{root, at("docs"), at("data")},
		Images: []string{at(w.imageName)}, Documents: []string{at(pdfName), at(w.sheetName)},
		Lines: map[string][]string{}, Texts: w.documentTexts(), Encoded: w.encodedDocuments(), Long: at(longName),
		Repo: at(repoName), RepoFiles: []string{changedName, "main.py"}, Branch: branchName,
		URL: "https://www.example.com/",
	}
	for _, s := range slices.Concat(w.samples(), w.formats(named)) {
		if isImage := strings.HasSuffix(s.name, ".jpg"); isImage {
			h.Images = append(h.Images, at(s.name))
			continue
		}
		h.Documents = append(h.Documents, at(s.name))
	}
	for _, t := range w.texts {
		h.Files = append(h.Files, at(t.name))
		if strings.HasSuffix(t.name, ".txt") || strings.HasSuffix(t.name, ".md") {
			for _, line := range strings.Split(t.data, "\n") {
				if len(line) > 12 && len(h.Lines[at(t.name)]) < 2 && strings.Count(t.data, line) == 1 {
					h.Lines[at(t.name)] = append(h.Lines[at(t.name)], line)
				}
			}
		}
	}
	return h
}

// photo is a PNG of eight by eight pixels of one colour.
func photo(colour [3]byte) []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		b.Write(be32(uint32(len(data))))
		body := append([]byte(kind), data...)
		b.Write(body)
		b.Write(be32(crc32.ChecksumIEEE(body)))
	}
	const side = 8
	chunk("IHDR", append(append(be32(side), be32(side)...), 8, 2, 0, 0, 0))
	row := append([]byte{0}, bytes.Repeat(colour[:], side)...)
	chunk("IDAT", deflate(bytes.Repeat(row, side)))
	chunk("IEND", nil)
	return b.Bytes()
}

func be32(v uint32) []byte { return []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)} }

// stamp is a time as git writes it.
func stamp(t time.Time) string { return fmt.Sprintf("%d +0000", t.Unix()) }
