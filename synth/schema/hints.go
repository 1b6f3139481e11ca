package schema

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Hints are what the caller has put in place for the tool to work on.
type Hints struct {
	// Files are existing text files, absolute; the last may be moved or deleted.
	Files []string
	// Lines are, for a file, lines that it holds exactly once.
	Lines map[string][]string
	// Long is a text file of over a thousand lines, none of Files, "" where tools are given nothing long.
	Long string `json:",omitempty"`
	// Documents are existing files that are no text, such as a PDF.
	Documents []string
	// Texts are documents as texts, by the ending of their type without the dot ("csv").
	Texts map[string]string `json:",omitempty"`
	// Encoded are documents that are no texts, in base64, by that ending ("xlsx").
	Encoded map[string]string `json:",omitempty"`
	// Images are existing image files.
	Images []string
	// Dirs are existing directories; new files go to the first.
	Dirs []string
	// Repo is a git repository, RepoFiles are paths in it (a changed one first),
	// Branch is its only branch.
	Repo      string
	RepoFiles []string
	Branch    string
	// URL leads to a reserved host.
	URL string
	// Dictionary is what was learned from the server's own answers; nil for nothing.
	Dictionary *Dictionary
	// Context are words of what the server says of itself: they name the type of its
	// files where a tool names none.
	Context []string
	// Literals are those of the server's source, where there is one.
	Literals Literals
	// Guards are what that source asks of arguments before it acts on the world.
	Guards []Guard `json:",omitempty"`
}

func (h *Hints) url() string {
	if h.URL == "" {
		return "https://www.example.com/"
	}
	return h.URL
}

// lasting are the files that no call moves or deletes.
func (h *Hints) lasting() []string {
	if len(h.Files) > 1 {
		return h.Files[:len(h.Files)-1]
	}
	return h.Files
}

// types are the words that stand for a type of files.
var types = map[string]string{
	"excel": "xlsx", "workbook": "xlsx", "spreadsheet": "xlsx", "docx": "docx", "powerpoint": "pptx", "markdown": "md", "sqlite": "db",
	"pdf": "pdf", "csv": "csv", "json": "json", "xlsx": "xlsx", "pptx": "pptx", "html": "html", "svg": "svg", "yaml": "yaml", "xml": "xml", "zip": "zip", "spreadsheets": "xlsx", "sheet": "xlsx", "word": "docx", "notebook": "ipynb", "jupyter": "ipynb", "drawio": "drawio",
	"archive": "zip", "calendar": "ics", "ical": "ics", "toml": "toml", "python": "py", "javascript": "js", "typescript": "ts", "golang": "go", "wav": "wav", "audio": "wav",
	"database": "db", "geojson": "geojson", "yml": "yaml", "log": "log", "tsv": "tsv", "tar": "gz", "tarball": "gz", "gzip": "gz", "tgz": "gz", "parquet": "parquet", "presentation": "pptx", "latex": "tex", "tex": "tex",
}

// NamesType says that a name such as "csvPath" is for files of an extension such as ".csv".
func NamesType(name, ext string) bool {
	ext = strings.TrimPrefix(ext, ".")
	image := slices.Contains([]string{"png", "jpg", "jpeg", "gif"}, ext)
	return ext != "" && slices.ContainsFunc(words(name), func(w string) bool {
		return w == ext || types[w] == ext || image && (w == "image" || w == "picture" || w == "photo")
	})
}

// Words are the words of a text, in the singular, bounded.
func Words(text string) []string { return words(text) }

// OfType are the lasting files whose type is among some words: for a tool that
// reads a PDF or a CSV no other will do.
func (h *Hints) OfType(named []string) []string {
	var out []string
	for _, f := range slices.Concat(h.Documents, h.lasting()) {
		if ext := strings.TrimPrefix(path.Ext(f), "."); ext != "" && (slices.Contains(named, ext) || slices.ContainsFunc(named, func(w string) bool { return types[w] == ext })) {
			out = append(out, f)
		}
	}
	return out
}

func (h *Hints) dir() string {
	if len(h.Dirs) == 0 {
		return "/tmp"
	}
	return h.Dirs[0]
}

const (
	maxLearnedKeys   = 256
	maxLearnedValues = 16
	maxLearnedText   = 300
)

// Dictionary holds strings by the words of the name they were seen under,
// bounded; a value that is seen again becomes the newest. It is safe for concurrent use.
type Dictionary struct {
	mu     sync.Mutex
	values map[string][]string
}

// Add remembers a value under a name such as "sessionId".
func (y *Dictionary) Add(name, value string) {
	if y == nil || value == "" || len(value) > maxLearnedText {
		return
	}
	k := strings.Join(words(name), " ")
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.values == nil {
		y.values = map[string][]string{}
	}
	list := y.values[k]
	if list == nil && len(y.values) >= maxLearnedKeys {
		return
	}
	if i := slices.Index(list, value); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) >= maxLearnedValues {
		list = slices.Delete(list, 0, 1)
	}
	y.values[k] = append(list, value)
}

// Drop forgets a value under every name, for one that names nothing.
func (y *Dictionary) Drop(value string) {
	if y == nil {
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	for k, list := range y.values {
		// What was handed out stays as it is.
		y.values[k] = slices.DeleteFunc(slices.Clone(list), func(v string) bool { return v == value })
	}
}

// strings are the values for a meaning: those of the same name, of a thing's id also those of the thing, else
// those of its last words.
func (y *Dictionary) strings(m *meaning) []string {
	if y == nil || len(m.words) == 0 {
		return nil
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	for i := range m.words {
		if i > 0 && !m.loose {
			break
		}
		list := y.values[strings.Join(m.words[i:], " ")]
		if i == 0 {
			if things := y.things(m.words); len(things) > 0 {
				return slices.Concat(list, things)
			}
		}
		if len(list) > 0 {
			return list[:len(list):len(list)]
		}
	}
	if m.kind == kID && m.words[len(m.words)-1] != "id" {
		return slices.Clone(y.values["id"])
	}
	return nil
}

// identified are the last words of names by which one thing is told from others.
var identified = []string{"id", "identifier", "uuid", "handle", "key", "token", "number"}

// things are the values that may tell one thing from others where the name is that of its id: those of the thing
// itself, as in "Started search session: search_1" for "sessionId".
func (y *Dictionary) things(name []string) []string {
	last := len(name) - 1
	if last < 1 || !slices.Contains(identified, name[last]) {
		return nil
	}
	thing := strings.Join(name[:last], " ")
	var keys, out []string
	for k := range y.values {
		if rest, ok := strings.CutSuffix(k, thing); ok && (rest == "" || strings.HasSuffix(rest, " ")) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		for _, v := range y.values[k] {
			if strings.ContainsAny(v, "0123456789-_") && !strings.Contains(v, " ") {
				out = append(out, v)
			}
		}
	}
	return out
}

// words splits a name as programmers write them, in the singular.
func words(name string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 && len(out) < 12 {
			out = append(out, singular(strings.ToLower(string(cur))))
		}
		cur = cur[:0]
	}
	rs := []rune(name)
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(rs[i-1]) || (unicode.IsUpper(rs[i-1]) && i+1 < len(rs) && unicode.IsLower(rs[i+1]))):
			flush()
		}
		cur = append(cur, r)
	}
	flush()
	return out
}

var irregular = map[string]string{"entities": "entity", "queries": "query", "properties": "property", "directories": "directory",
	"repositories": "repository", "categories": "category", "entries": "entry", "indices": "index", "addresses": "address",
	"branches": "branch", "matches": "match", "classes": "class", "status": "status", "address": "address", "class": "class",
	"alias": "alias", "canvas": "canvas", "process": "process", "access": "access", "css": "css", "js": "js", "dns": "dns",
	"https": "https", "radius": "radius", "basis": "basis", "bus": "bus", "gas": "gas", "os": "os", "is": "is", "has": "has", "as": "as", "this": "this"}

func singular(w string) string {
	if s, ok := irregular[w]; ok {
		return s
	}
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// quoted finds what a description puts in quotation marks: "one of 'local',
// 'remote'" or (e.g. "report.txt"). Prose in quotation marks is left alone.
func quoted(text string) []string {
	var out []string
	rs := []rune(text)
	for i := 0; i < len(rs) && len(out) < maxExamples; i++ {
		q := rs[i]
		if q != '\'' && q != '"' && q != '`' {
			continue
		}
		if i > 0 && (unicode.IsLetter(rs[i-1]) || unicode.IsDigit(rs[i-1])) {
			continue
		}
		end := i + 1
		for end < len(rs) && rs[end] != q && rs[end] != '\n' && end-i < 80 {
			end++
		}
		if end >= len(rs) || rs[end] != q || end == i+1 {
			continue
		}
		if end+1 < len(rs) && unicode.IsLetter(rs[end+1]) {
			continue
		}
		if s := string(rs[i+1 : end]); plainExample(s) {
			out = append(out, s)
		}
		i = end
	}
	return out
}

// plainExample says that a text can be a value rather than prose about values.
func plainExample(s string) bool {
	return s != "" && len(s) <= 60 && strings.Count(s, " ") <= 4 && !strings.ContainsAny(s, "\"'`<>[]{}|")
}

// exampled finds what follows "e.g." or "example" without quotation marks, up
// to the next comma or bracket.
func exampled(text string) []string {
	var out []string
	lowered := strings.ToLower(text)
	for _, mark := range []string{"e.g. ", "e.g., ", "e.g.: ", "for example ", "for example, ", "for instance ", "for instance, ", "example: ", "examples: ", "such as "} {
		i := strings.Index(lowered, mark)
		if i < 0 || len(lowered) != len(text) {
			continue
		}
		rest := text[i+len(mark):]
		end := strings.IndexAny(rest, ",;)\n")
		if end < 0 {
			end = len(rest)
		}
		s := strings.Trim(rest[:end], " .\"'`")
		if plainExample(s) {
			out = append(out, s)
		}
	}
	return out
}

// newFile is a path at which nothing is yet.
func (h *Hints) newFile(name string) string { return path.Join(h.dir(), name) }
