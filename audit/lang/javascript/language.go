package javascript

import (
	"bytes"
	"path"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// Language is JavaScript with TypeScript. It has no state.
type Language struct{}

var _ lang.Language = Language{}

// Name implements lang.Language.
func (Language) Name() string { return "JavaScript" }

// dialect is what a file's name says of its grammar.
type dialect struct {
	// types is set for TypeScript, jsx where a "<" may begin an element.
	types, jsx bool
	// module is set where the file can be no script.
	module bool
}

var dialects = map[string]dialect{
	".js":  {jsx: true},
	".cjs": {jsx: true},
	".jsx": {jsx: true},
	".mjs": {jsx: true, module: true},
	".ts":  {types: true, module: true},
	".mts": {types: true, module: true},
	".cts": {types: true, module: true},
	".tsx": {types: true, jsx: true, module: true},
}

// Owns implements lang.Language. A file of declarations (.d.ts) holds types alone, so it
// is no source. A file without an ending is one by its "#!" line.
func (Language) Owns(name string, head []byte) bool {
	base := path.Base(name)
	if ext := path.Ext(base); ext != "" {
		_, known := dialects[ext]
		return known && !strings.HasSuffix(base, ".d"+ext)
	}
	return interpreter(head) != ""
}

// interpreter returns the name of the runtime in a "#!" line, "" for none of ours.
func interpreter(head []byte) string {
	line, found := bytes.CutPrefix(head, []byte("#!"))
	if !found {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	for _, word := range strings.Fields(string(line)) {
		switch base := path.Base(word); base {
		case "node", "nodejs", "deno", "bun", "tsx", "ts-node":
			return base
		}
	}
	return ""
}

// dialectOf returns the grammar of a file.
func dialectOf(name string, src []byte) dialect {
	if d, ok := dialects[path.Ext(path.Base(name))]; ok {
		return d
	}
	switch interpreter(src[:min(len(src), 512)]) {
	case "deno", "bun", "tsx", "ts-node":
		return dialects[".ts"]
	}
	return dialects[".js"]
}

// Parse implements lang.Language. The tree shares the memory of one copy of src. Where a
// file of JavaScript has errors, it is also read with the types that Flow and TypeScript
// have, and the reading with the least unread counts.
func (Language) Parse(name string, src []byte) *lang.File {
	d := dialectOf(name, src)
	text := string(src)
	file := parse(name, text, d)
	if len(file.Unread) > 0 && !d.types {
		d.types = true
		if typed := parse(name, text, d); unreadBytes(typed) < unreadBytes(file) {
			return typed
		}
	}
	return file
}

func parse(name, src string, d dialect) *lang.File {
	p := newParser(src, d)
	if strings.HasPrefix(src, "#!") {
		p.skipLine()
	}
	p.next()
	body := p.statements(inModule)
	return &lang.File{Path: name, Language: Language{}.Name(), Body: body, Unread: p.unread}
}

// unreadBytes counts what a file does not hold in its tree.
func unreadBytes(file *lang.File) (n int) {
	for _, u := range file.Unread {
		n += u.End.Offset() - u.Start.Offset()
	}
	return n
}
