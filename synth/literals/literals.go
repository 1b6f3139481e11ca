package literals

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
)

// What is read of one source tree, and kept of it.
const (
	maxFiles     = 2_000
	maxFileBytes = 4 << 20
	maxBytes     = 16 << 20
	maxPerFile   = 4_000
	maxTexts     = 600
	maxNumbers   = 200
	maxNames     = 400
	maxDepth     = 12
)

// Set is what was found, the likeliest to matter first: what is compared with,
// then what is listed, then the rest. The same source gives the same set.
type Set struct {
	// Texts are strings, each once.
	Texts []string
	// Numbers are written as in JSON, each once.
	Numbers []string
	// Lengths are numbers that the length of something is compared with.
	Lengths []int
	// Names are those of Texts that could be the name of a tool or an argument.
	Names []string
	// Patterns are the regular expressions that whole texts are compared with.
	Patterns []Pattern
	// Files is how many files were read; Cut says that there was more than is read.
	Files int
	Cut   bool
}

// suffixes are the languages that are read, and how they mark a comment to the
// end of the line.
var suffixes = map[string]string{
	".js": "//", ".mjs": "//", ".cjs": "//", ".jsx": "//", ".ts": "//", ".mts": "//", ".cts": "//", ".tsx": "//", ".go": "//", ".rs": "//",
	".java": "//", ".kt": "//", ".cs": "//", ".swift": "//", ".php": "//", ".py": "#", ".rb": "#", ".lua": "--", ".ex": "#", ".exs": "#",
}

// skipped are directories that hold other people's source, or none.
var skipped = []string{"node_modules", "vendor", "__pycache__", "site-packages", "testdata", "test", "tests", "__tests__", "docs"}

// Read reads the source below the root of fsys. What cannot be read is left out.
func Read(fsys fs.FS) Set {
	var out Set
	c := collector{seen: map[string]int{}}
	out.Files, out.Cut = Files(fsys, func(name, source string) {
		c.file(source, suffixes[path.Ext(name)])
		found := patternsOf(source)
		out.Patterns = append(out.Patterns, found[:min(len(found), maxPatterns-len(out.Patterns))]...)
	})
	c.fill(&out)
	return out
}

// Files calls each with the server's own source files below the root of fsys, by path, and says
// how many there were and whether there was more than is read.
func Files(fsys fs.FS, each func(name, source string)) (files int, cut bool) {
	left := int64(maxBytes)
	// A walk goes in lexical order, and its function never fails.
	_ = fs.WalkDir(fsys, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case e.IsDir():
			if p != "." && (strings.HasPrefix(e.Name(), ".") || slices.Contains(skipped, e.Name()) || strings.Count(p, "/") >= maxDepth) {
				return fs.SkipDir
			}
			return nil
		}
		if _, ok := suffixes[path.Ext(p)]; !ok || !e.Type().IsRegular() || strings.HasSuffix(p, ".d.ts") {
			return nil
		}
		if files >= maxFiles || left <= 0 {
			cut = true
			return fs.SkipAll
		}
		raw, short := readFile(fsys, p, min(left, maxFileBytes))
		cut = cut || short
		left -= int64(len(raw))
		files++
		each(p, string(raw))
		return nil
	})
	return files, cut
}

func readFile(fsys fs.FS, p string, most int64) (raw []byte, cut bool) {
	f, err := fsys.Open(p)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }() // it was only read
	raw, err = io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, false
	}
	if int64(len(raw)) > most {
		return raw[:most], true
	}
	return raw, false
}

// rank says how much a literal matters; the lesser the more.
type rank int

const (
	compared rank = iota
	listed
	other
)

// found is a literal in the order in which it was first seen.
type found struct {
	text   string
	number bool
	length bool
	rank   rank
}

type collector struct {
	seen map[string]int // index in list
	list []found
	n    int // literals of the file at hand
}

func (c *collector) add(f found) {
	if c.n++; c.n > maxPerFile {
		return
	}
	k := f.text
	switch {
	case f.length:
		k = "length " + k
	case f.number:
		k = "number " + k
	default:
		k = "text " + k
	}
	if i, ok := c.seen[k]; ok {
		c.list[i].rank = min(c.list[i].rank, f.rank)
		return
	}
	c.seen[k] = len(c.list)
	c.list = append(c.list, f)
}

func (c *collector) fill(out *Set) {
	sort.SliceStable(c.list, func(i, j int) bool { return c.list[i].rank < c.list[j].rank })
	for _, f := range c.list {
		switch {
		case f.length:
			if n, ok := small(f.text); ok && len(out.Lengths) < maxNumbers {
				out.Lengths = append(out.Lengths, n)
			}
		case f.number:
			if len(out.Numbers) < maxNumbers {
				out.Numbers = append(out.Numbers, f.text)
			}
		default:
			if len(out.Texts) < maxTexts {
				out.Texts = append(out.Texts, f.text)
			}
			if len(out.Names) < maxNames && isName(f.text) {
				out.Names = append(out.Names, f.text)
			}
		}
	}
}

// isName says that a text could name a tool or an argument.
func isName(s string) bool {
	if len(s) < 2 || len(s) > 40 || !letter(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
