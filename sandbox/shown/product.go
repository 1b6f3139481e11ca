package shown

import (
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxManifest bounds a package.json, in bytes.
const maxManifest = 1 << 20

// entries are the members of a package.json that say what is run.
var entries = []string{"main", "module", "bin", "exports", "scripts"}

// runs reports whether the server is run from a directory of the tree: the command's code
// lies in it, or the package.json beside it names a file in it.
func (l *looker) runs(dir string) bool {
	abs := filepath.Join(l.top, dir)
	if l.request.Code != "" && Within(l.request.Code, abs) {
		return true
	}
	rel, err := filepath.Rel(l.request.Index.top, filepath.Join(filepath.Dir(abs), "package.json"))
	if err != nil || !l.request.Index.Tracks(filepath.ToSlash(rel)) {
		return false
	}
	var manifest map[string]json.RawMessage
	if json.Unmarshal(l.manifest(path.Join(path.Dir(dir), "package.json")), &manifest) != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(name string) bool { return names(manifest[name], path.Base(dir)) })
}

// manifest reads a file of the tree, nil where that cannot be done.
func (l *looker) manifest(name string) []byte {
	f, err := l.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil
	}
	return data
}

// names reports whether a text in a JSON value has a word that is a path in a directory.
func names(value json.RawMessage, dir string) bool {
	if len(value) == 0 {
		return false
	}
	texts := json.NewDecoder(strings.NewReader(string(value)))
	texts.UseNumber()
	for {
		token, err := texts.Token()
		if err != nil {
			return false
		}
		text, _ := token.(string)
		for _, word := range strings.Fields(text) {
			if Within(path.Clean(strings.Trim(word, `"'`)), dir) {
				return true
			}
		}
	}
}
