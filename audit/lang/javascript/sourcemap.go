package javascript

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// The bounds of a source map.
const (
	maxMap      = 64 << 20
	maxMappings = 4 << 20
	maxSections = 10_000
	maxSources  = 1 << 20
)

// Map leads from positions of a generated file to those of its originals: ECMA-426. It
// may be used from several goroutines at once.
type Map struct {
	generated []int // where each line of the generated file begins
	src       []byte
	mappings  []mapping
	sources   []string
	// contents holds the text of each source, and starts where its lines begin; nil where
	// the map has none.
	contents [][]byte
	starts   [][]int
}

// mapping says where a place of the generated file comes from. Lines and columns count
// from 0, columns in units of UTF-16.
type mapping struct {
	line, column             int32
	source                   int32 // -1: from nowhere
	sourceLine, sourceColumn int32
}

// Original is a place in the source of a generated file.
type Original struct {
	// File is the source as the map names it, behind the map's sourceRoot. It is a text,
	// never a path to open.
	File string
	// Pos is the place. Where the map does not hold the source's text, Offset is -1 and
	// Column counts units of UTF-16.
	Pos lang.Pos
}

// ErrNoMap says that a file names no source map.
var ErrNoMap = errors.New("the file names no source map")

// OpenMap returns the source map that a generated file names in a comment. One that lies
// beside the file is read by calling read with its path, which is relative to the file's
// directory, has slashes and stays in it. Nothing else that the comment names is read.
func OpenMap(src []byte, read func(name string) ([]byte, error)) (*Map, error) {
	link := mapLink(string(src))
	if link == "" {
		return nil, ErrNoMap
	}
	data, err := inlineMap(link)
	if err != nil {
		return nil, err
	}
	if data == nil {
		name, err := url.PathUnescape(link)
		if err != nil || strings.Contains(name, ":") || strings.ContainsAny(name, "?#\\\x00") || path.IsAbs(name) {
			return nil, errors.New("the source map does not lie beside the file")
		}
		if name = path.Clean(name); name == ".." || strings.HasPrefix(name, "../") || read == nil {
			return nil, errors.New("the source map does not lie beside the file")
		}
		if data, err = read(name); err != nil {
			return nil, fmt.Errorf("reading the source map: %w", err)
		}
	}
	return ReadMap(data, src)
}

// mapLink returns what the last sourceMappingURL comment of a file names.
func mapLink(src string) string {
	i := strings.LastIndex(src, "# sourceMappingURL=")
	if j := strings.LastIndex(src, "@ sourceMappingURL="); j > i {
		i = j
	}
	if i < 2 || src[i-2:i] != "//" && src[i-2:i] != "/*" {
		return ""
	}
	link := src[i+len("# sourceMappingURL="):]
	if n := strings.IndexAny(link, " \t\r\n'\"`*"); n >= 0 {
		link = link[:n]
	}
	return link
}

// inlineMap decodes a data: URL; nil for another one.
func inlineMap(link string) ([]byte, error) {
	rest, found := strings.CutPrefix(link, "data:")
	if !found {
		return nil, nil
	}
	kind, data, found := strings.Cut(rest, ",")
	if !found || len(data) > maxMap {
		return nil, errors.New("the source map in the file is cut off or too large")
	}
	if strings.HasSuffix(kind, ";base64") {
		out, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
		if err != nil {
			return nil, fmt.Errorf("the source map in the file: %w", err)
		}
		return out, nil
	}
	out, err := url.PathUnescape(data)
	if err != nil {
		return nil, errors.New("the source map in the file has wrong escapes")
	}
	return []byte(out), nil
}

// mapFile is a source map as JSON.
type mapFile struct {
	Version    int       `json:"version"`
	SourceRoot string    `json:"sourceRoot"`
	Sources    []*string `json:"sources"`
	Contents   []*string `json:"sourcesContent"`
	Mappings   string    `json:"mappings"`
	Sections   []struct {
		Offset struct{ Line, Column int32 }
		Map    *mapFile
	} `json:"sections"`
}

// ReadMap reads the source map of a generated file.
func ReadMap(data, generated []byte) (*Map, error) {
	if len(data) > maxMap {
		return nil, fmt.Errorf("the source map has more than %d bytes", maxMap)
	}
	// A server may put ")]}'" before it, so that no page runs it as a script.
	if strings.HasPrefix(string(data[:min(len(data), 3)]), ")]}") {
		_, rest, _ := strings.Cut(string(data), "\n")
		data = []byte(rest)
	}
	var file mapFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("the source map is not JSON of this format: %w", err)
	}
	m := &Map{src: generated, generated: lineStarts(generated)}
	if len(file.Sections) > maxSections {
		return nil, errors.New("the source map has too many sections")
	}
	if err := m.add(&file, 0, 0); err != nil {
		return nil, err
	}
	for _, s := range file.Sections {
		if s.Map == nil || s.Offset.Line < 0 || s.Offset.Column < 0 {
			return nil, errors.New("a section of the source map has no map")
		}
		if err := m.add(s.Map, s.Offset.Line, s.Offset.Column); err != nil {
			return nil, err
		}
	}
	if !slices.IsSortedFunc(m.mappings, before) {
		slices.SortStableFunc(m.mappings, before)
	}
	return m, nil
}

func before(a, b mapping) int {
	if a.line != b.line {
		return int(a.line) - int(b.line)
	}
	return int(a.column) - int(b.column)
}

// add adds the mappings of a map that begins at a place of the generated file.
func (m *Map) add(file *mapFile, line, column int32) error {
	if file.Version != 3 {
		return fmt.Errorf("the source map has version %d, not 3", file.Version)
	}
	if len(m.sources)+len(file.Sources) > maxSources {
		return errors.New("the source map has too many sources")
	}
	base := int32(len(m.sources))
	for i, s := range file.Sources {
		name, text, starts := "", []byte(nil), []int(nil)
		if s != nil {
			name = *s
			if file.SourceRoot != "" {
				name = strings.TrimSuffix(file.SourceRoot, "/") + "/" + name
			}
		}
		if i < len(file.Contents) && file.Contents[i] != nil {
			text = []byte(*file.Contents[i])
			starts = lineStarts(text)
		}
		m.sources = append(m.sources, name)
		m.contents = append(m.contents, text)
		m.starts = append(m.starts, starts)
	}
	return m.decode(file.Mappings, mapping{line: line, column: column}, base, int32(len(file.Sources)))
}

// decode adds what the text of mappings says. Numbers are relative to those before.
func (m *Map) decode(text string, now mapping, base, sources int32) error {
	for len(text) > 0 {
		switch text[0] {
		case ';':
			now.line++
			now.column = 0
			text = text[1:]
			continue
		case ',':
			text = text[1:]
			continue
		}
		var fields [5]int32
		n := 0
		for ; len(text) > 0 && text[0] != ',' && text[0] != ';'; n++ {
			v, size := vlq(text)
			if size == 0 || n == len(fields) {
				return errors.New("the mappings of the source map are no VLQ numbers")
			}
			fields[n] = v
			text = text[size:]
		}
		now.column += fields[0]
		one := mapping{line: now.line, column: now.column, source: -1}
		if n >= 4 {
			now.source += fields[1]
			now.sourceLine += fields[2]
			now.sourceColumn += fields[3]
			if now.source < 0 || now.source >= sources || now.sourceLine < 0 || now.sourceColumn < 0 {
				return errors.New("a mapping of the source map leads to no source")
			}
			one = now
			one.source += base
		}
		if now.column < 0 || n == 2 || n == 3 || len(m.mappings) == maxMappings {
			return errors.New("the mappings of the source map are wrong or too many")
		}
		m.mappings = append(m.mappings, one)
	}
	return nil
}

// vlq decodes a number in base 64, the least digits first; size is 0 for none.
func vlq(s string) (v int32, size int) {
	var u uint64
	for i := 0; i < len(s) && i < 7; i++ {
		d := digits[s[i]]
		if d < 0 {
			return 0, 0
		}
		u |= uint64(d&31) << (5 * i)
		if d&32 != 0 {
			continue
		}
		if u>>1 > math.MaxInt32 {
			return 0, 0
		}
		v = int32(u >> 1)
		if u&1 != 0 {
			v = -v
		}
		return v, i + 1
	}
	return 0, 0
}

// digits are those of base 64, -1 for other bytes.
var digits = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = int8(i)
	}
	return t
}()

// Sources are the files that the map leads to, "" for one without a name.
func (m *Map) Sources() []string { return m.sources }

// Original returns where a position of the generated file comes from. It reports false
// where the map does not say. It reads the line of the position up to it.
func (m *Map) Original(pos lang.Pos) (Original, bool) {
	if pos.Line() < 1 || pos.Line() > len(m.generated) || pos.Column() < 1 {
		return Original{}, false
	}
	from := m.generated[pos.Line()-1]
	line, column := pos.Line()-1, units(m.src[from:min(from+pos.Column()-1, len(m.src))])
	// The last mapping at or before the place, on its line.
	i := sort.Search(len(m.mappings), func(i int) bool {
		x := m.mappings[i]
		return int(x.line) > line || int(x.line) == line && int(x.column) > column
	}) - 1
	if i < 0 || int(m.mappings[i].line) != line || m.mappings[i].source < 0 {
		return Original{}, false
	}
	x := m.mappings[i]
	o := Original{File: m.sources[x.source], Pos: lang.At(-1, int(x.sourceLine)+1, int(x.sourceColumn)+1)}
	if starts := m.starts[x.source]; starts != nil {
		o.Pos = place(m.contents[x.source], starts, int(x.sourceLine), int(x.sourceColumn))
	}
	return o, true
}

// place returns the position of a column in units of UTF-16. It stays in the text.
func place(text []byte, starts []int, line, column int) lang.Pos {
	line = min(line, len(starts)-1)
	at := starts[line]
	for column > 0 && at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		column -= utf16Len(r)
		at += n
	}
	return lang.At(at, line+1, at-starts[line]+1)
}

// units counts units of UTF-16.
func units(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n += utf16Len(r)
		b = b[size:]
	}
	return n
}

func utf16Len(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// lineStarts returns the offsets at which lines begin.
func lineStarts(src []byte) []int {
	l := lexer{src: string(src)}
	starts := []int{0}
	for i := 0; i < len(l.src); {
		if c := l.src[i]; c > '\r' && c != 0xE2 {
			i++
			continue
		}
		if n := l.newlineAt(i); n > 0 {
			i += n
			starts = append(starts, i)
			continue
		}
		i++
	}
	return starts
}
