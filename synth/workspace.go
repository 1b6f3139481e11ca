package synth

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"path"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// planted is when the workspace was last worked on.
var planted = time.Date(2026, time.February, 9, 10, 15, 0, 0, time.UTC)

// changed is when a part of it was: some day of the months before, but for the
// repository, whose index tells its files' times.
func changed(name string) time.Time {
	if name == "" || name == repoName || strings.HasPrefix(name, repoName+"/") {
		return planted
	}
	const months = 120 * 24 * 3600
	return planted.Add(-time.Duration(crc32.ChecksumIEEE([]byte(name))%months) * time.Second)
}

// texts are the workspace's text files, by path below its root. Every line of
// those that are to be edited occurs once.
var texts = []struct{ name, data string }{
	{"notes.txt", "Notes from Monday\n\nThe garden project starts in March.\nAsk the market about the window seats.\nBook the train to York before Friday.\n"},
	{"todo.md", "# To do\n\n- finish the quarterly report\n- send the list to Sam\n- water the plants on the balcony\n"},
	{"docs/report.md", "# Quarterly report\n\nSales rose by four per cent.\n\n## Outlook\n\nThe second quarter looks steady.\n"},
	{"docs/index.html", "<!doctype html>\n<html>\n<head><title>Garden project</title></head>\n<body><h1>Garden project</h1><p>Work starts in March.</p></body>\n</html>\n"},
	{"data/inventory.csv", "item,count,price\nwindow,4,120.50\nbench,2,89.00\nlantern,12,7.25\n"},
	{"data/settings.json", "{\n  \"theme\": \"light\",\n  \"language\": \"en\",\n  \"items\": [1, 2, 3]\n}\n"},
	{"scripts/count.py", "def count(items):\n    return len(items)\n\n\nprint(count([1, 2, 3]))\n"},
	{"old-notes.txt", "Notes from last year\n\nThe bridge was painted in May.\n"},
}

const (
	imageName = "images/photo.png"
	pdfName   = "docs/report.pdf"
	xlsxName  = "data/inventory.xlsx"
	repoName  = "project"
)

// Workspace is what is planted at root for a server to work on: texts, an
// image, directories, and a small git repository with one commit and one
// changed file. It is the same in every run, so that the same seed gives the
// same calls and the same answers.
func Workspace(root string) []rootfs.File {
	var out []rootfs.File
	dirs := map[string]bool{}
	var dir func(string)
	dir = func(p string) {
		if p == "." || dirs[p] {
			return
		}
		dirs[p] = true
		dir(path.Dir(p))
		out = append(out, rootfs.File{Path: path.Join(root, p), Mode: 0o755, Dir: true, ModTime: changed(p)})
	}
	file := func(name string, data []byte) {
		dir(path.Dir(name))
		out = append(out, rootfs.File{Path: path.Join(root, name), Mode: 0o644, Data: data, ModTime: changed(name)})
	}
	out = append(out, rootfs.File{Path: root, Mode: 0o755, Dir: true, ModTime: planted})
	for _, t := range texts {
		file(t.name, []byte(t.data))
	}
	file(imageName, photo())
	file(pdfName, pdf("Quarterly report"))
	if sheet, err := workbook(); err == nil { // writing to memory does not fail
		file(xlsxName, sheet)
	}
	for _, f := range repository() {
		name := path.Join(repoName, f.name)
		if f.dir {
			dir(name)
			continue
		}
		file(name, f.data)
	}
	return out
}

// WorkspaceHints say what of Workspace(root) a tool's arguments may name.
func WorkspaceHints(root string) schema.Hints {
	at := func(name string) string { return path.Join(root, name) }
	h := schema.Hints{
		Dirs:   []string{root, at("docs"), at("data")},
		Images: []string{at(imageName)}, Documents: []string{at(pdfName), at(xlsxName)},
		Lines: map[string][]string{},
		Repo:  at(repoName), RepoFiles: []string{changedName, "main.py"}, Branch: branchName,
		URL: "https://www.example.com/",
	}
	for _, t := range texts {
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
func photo() []byte {
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
	row := append([]byte{0}, bytes.Repeat([]byte{0x33, 0x66, 0x99}, side)...)
	chunk("IDAT", deflate(bytes.Repeat(row, side)))
	chunk("IEND", nil)
	return b.Bytes()
}

func be32(v uint32) []byte { return []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)} }

// stamp is a time as git writes it.
func stamp(t time.Time) string { return fmt.Sprintf("%d +0000", t.Unix()) }
