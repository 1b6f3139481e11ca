package synth

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// fileEnding is what tells a path of a file from one of a directory.
var fileEnding = lazyregexp.New(`^[^.].*\.[A-Za-z][A-Za-z0-9]{0,9}$`)

// Furnish makes places that a server looked for: a path with an ending is a file of that type, any other a
// directory with documents of the types that the server's source names. there says which directories exist.
func Furnish(places []string, seed int64, named func(name string) bool, there func(dir string) bool) []rootfs.File {
	w := drawWork(seed)
	documents := w.named(named)
	var out []rootfs.File
	for _, place := range places {
		if name := path.Base(place); fileEnding.MatchString(name) {
			out = append(out, rootfs.File{Path: place, Mode: 0o644, Data: w.like(name), ModTime: w.at})
			continue
		}
		if !there(place) {
			out = append(out, rootfs.File{Path: place, Mode: 0o755, Dir: true, ModTime: w.at})
		}
		out = append(out, w.put(place, documents)...)
	}
	return parents(out, there)
}

// like is the content of a file of a name: that of a project's file of this name, of a document with its ending, or
// a text.
func (w *work) like(name string) []byte {
	all := slices.Concat(w.manifests(func(n string) bool { return n == name }), w.all(func(string) bool { return true }))
	for _, same := range []func(sample) bool{
		func(s sample) bool { return path.Base(s.name) == name },
		func(s sample) bool { return path.Ext(s.name) == path.Ext(name) },
	} {
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i].data
		}
	}
	for _, t := range w.texts {
		if path.Ext(t.name) == path.Ext(name) {
			return []byte(t.data)
		}
	}
	return []byte(strings.Join(w.items, "\n") + "\n")
}

// HintsWith are hints that name some files first.
func HintsWith(h schema.Hints, files []rootfs.File) schema.Hints {
	var texts, documents, images, dirs []string
	for _, f := range files {
		switch ending := strings.ToLower(path.Ext(f.Path)); {
		case f.Dir:
			dirs = append(dirs, f.Path)
		case slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif"}, ending):
			images = append(images, f.Path)
		case slices.Contains([]string{".txt", ".md"}, ending):
			texts = append(texts, f.Path)
		default:
			documents = append(documents, f.Path)
		}
	}
	h.Files, h.Documents = slices.Concat(texts, h.Files), slices.Concat(documents, h.Documents)
	h.Images, h.Dirs = slices.Concat(images, h.Images), slices.Concat(h.Dirs, dirs)
	return h
}
