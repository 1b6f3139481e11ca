package synth

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// The names of folders in which people keep documents, below HOME and in a working directory, and of those in
// which they keep repositories.
var (
	homeFolders = []string{"Documents", "Downloads", "Pictures", "Music", "Videos", "Desktop", "Books", "Notes", "notes", "Vault", "vault", "Obsidian", "Zotero", "Recipes", "Receipts", "Invoices", "Photos", "Podcasts", "Calendars", "Maildir"}
	workFolders = []string{"vault", "notes", "posts", "content", "recipes", "assets", "templates", "pages", "articles", "journal", "inbox", "music", "books", "invoices", "fixtures"}
	repoFolders = []string{"src", "code", "projects", "Projects", "repos", "git", "dev", "workspace"}
)

// maxInFolder bounds the documents of a folder.
const maxInFolder = 8

// Folders are the folders of HOME and of the workspace at root that the server's source names, with documents
// of the types that it names, or texts where it names none. there says which directories exist.
func Folders(home, root string, seed int64, named func(name string) bool, there func(dir string) bool) (out []rootfs.File) {
	w := drawWork(seed)
	documents := w.named(named)
	fill := func(below string, folders []string) {
		for _, name := range folders {
			if !named(name) {
				continue
			}
			out = append(out, w.put(path.Join(below, name), documents)...)
		}
	}
	fill(home, homeFolders)
	fill(root, workFolders)
	for _, name := range repoFolders {
		if !named(name) && !named("~/"+name) {
			continue
		}
		repo := path.Join(home, name, repoName)
		for _, f := range w.history.repository(path.Join(root, remoteName)) {
			out = append(out, rootfs.File{Path: path.Join(repo, f.name), Mode: 0o644, Data: f.data, Dir: f.dir, ModTime: w.at})
			if f.dir {
				out[len(out)-1].Mode = 0o755
			}
		}
	}
	return parents(out, there)
}

// put are documents as the files of a directory.
func (w *work) put(dir string, documents []sample) (out []rootfs.File) {
	for _, d := range documents {
		out = append(out, rootfs.File{Path: path.Join(dir, path.Base(d.name)), Mode: 0o644, Data: d.data, ModTime: w.at})
	}
	return out
}

// parents puts the directories before what is in them that nobody made.
func parents(files []rootfs.File, there func(dir string) bool) (out []rootfs.File) {
	made := map[string]bool{}
	for _, f := range files {
		var missing []string
		for d := path.Dir(f.Path); d != "/" && !made[d] && !there(d); d = path.Dir(d) {
			missing = append(missing, d)
		}
		for _, d := range slices.Backward(missing) {
			made[d] = true
			out = append(out, rootfs.File{Path: d, Mode: 0o755, Dir: true, ModTime: f.ModTime})
		}
		if f.Dir && made[f.Path] {
			continue
		}
		made[f.Path] = made[f.Path] || f.Dir
		out = append(out, f)
	}
	return out
}

// named are the documents of the types that a source names, else notes that link to each other.
func (w *work) named(named func(name string) bool) (out []sample) {
	for _, s := range w.all(named) {
		if named(path.Ext(s.name)) && len(out) < maxInFolder {
			out = append(out, s)
		}
	}
	if len(out) > 0 && !named(".md") && !named(".txt") {
		return out
	}
	item := w.items[0]
	return append(out,
		sample{"report.md", []byte("# " + w.title + "\n\nSee [[" + item + "]] and [[missing]]. #work\n\n- [ ] count the " + item + "\n")},
		sample{item + ".md", []byte("# " + strings.ToUpper(item[:1]) + item[1:] + "\n\nPart of [[report]].\n")},
		sample{"list.txt", []byte(strings.Join(w.items, "\n") + "\n")})
}

// all are the documents of every type; of the rarer ones those that a source names.
func (w *work) all(named func(name string) bool) []sample {
	out := slices.Concat(w.samples(), w.formats(named), []sample{{w.imageName, photo(w.colour)}, {pdfName, sinkhole.PDF(w.title)}})
	if sheet, err := workbook(w.items, w.counts); err == nil { // writing to memory does not fail
		out = append(out, sample{w.sheetName, sheet})
	}
	if book, err := w.book(); err == nil {
		out = append(out, sample{"books/report.epub", book})
	}
	return out
}

// book is an EPUB with two chapters.
func (w *work) book() ([]byte, error) {
	chapter := func(title, text string) string {
		return `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>` + title + `</title></head><body><h1>` + title + `</h1><p>` + text + "</p></body></html>\n"
	}
	return zipped([]zipPart{
		{"mimetype", "application/epub+zip"},
		{"META-INF/container.xml", `<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>` + "\n"},
		{"OEBPS/content.opf", `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">1</dc:identifier><dc:title>` + w.title + `</dc:title><dc:creator>Alex Example</dc:creator><dc:language>en</dc:language></metadata>` +
			`<manifest><item id="c1" href="one.xhtml" media-type="application/xhtml+xml"/><item id="c2" href="two.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c1"/><itemref idref="c2"/></spine></package>` + "\n"},
		{"OEBPS/one.xhtml", chapter(w.title, "The "+w.items[0]+" arrives.")},
		{"OEBPS/two.xhtml", chapter("Outlook", "Work goes on.")},
	})
}
