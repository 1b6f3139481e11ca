package python

import (
	"bytes"
	"path"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// maxSize bounds the bytes of a source that is parsed.
const maxSize = 64 << 20

// Language reads Python. Its zero value is ready.
type Language struct{}

// Name returns "Python".
func (Language) Name() string { return "Python" }

// Owns reports whether a file has a suffix of Python's, or none and a "#!" line that
// names python.
func (Language) Owns(name string, head []byte) bool {
	switch path.Ext(name) {
	case ".py", ".pyw", ".pyi":
		return true
	case "":
		line, _, _ := bytes.Cut(head, []byte("\n"))
		return bytes.HasPrefix(line, []byte("#!")) && bytes.Contains(line, []byte("python"))
	}
	return false
}

// buffers keeps the tokens of one source for the next.
var buffers = sync.Pool{New: func() any { return new([]token) }}

// Parse reads one source.
func (Language) Parse(name string, src []byte) *lang.File {
	f := &lang.File{Path: name, Language: "Python"}
	if len(src) > maxSize {
		f.Unread = []lang.Unread{{Span: whole(string(src[:0])), Why: "larger than 64 MiB"}}
		return f
	}
	text := string(src)
	enc, mark, at := encodingOf(text)
	p := &parser{src: text, table: enc.table}
	wide := firstWide(text[mark:])
	switch {
	case !enc.read:
		f.Unread = []lang.Unread{{Span: whole(text), Why: "an encoding that is not read"}}
		return f
	case enc.ascii && wide >= 0:
		p.table = charmap.ISO8859_1
		p.unread = append(p.unread, lang.Unread{Span: line(text, at), Why: "coalmine reads only the ASCII part of this encoding: other names and strings are wrong"})
	case enc.table == nil && wide >= 0:
		if i := firstInvalid(text); i >= 0 {
			p.table = charmap.ISO8859_1
			p.unread = append(p.unread, lang.Unread{Span: line(text, i), Why: "bytes that are no UTF-8"})
		}
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		p.unread = append(p.unread, lang.Unread{Span: line(text, i), Why: "a zero byte"})
	}
	buffer := buffers.Get().(*[]token)
	defer buffers.Put(buffer)
	p.toks = scan(text, mark, *buffer)
	*buffer = p.toks[:0]
	p.k = p.toks[0].kind
	f.Body = p.module()
	f.Unread = p.unread
	if p.old {
		f.Body = nil
		f.Unread = []lang.Unread{{Span: whole(text), Why: python2}}
	}
	return f
}

// module parses all statements. A block that no statement begins ends nothing.
func (p *parser) module() []lang.Stmt {
	body := p.statements()
	for p.k != kEOF && !p.old {
		p.next()
		body = append(body, p.statements()...)
	}
	return body
}

// whole is the span of a source.
func whole(src string) lang.Span {
	s := lang.Span{Start: lang.At(0, 1, 1)}
	s.End = position(src, len(src))
	return s
}

// line is the span of the line in which an offset lies.
func line(src string, at int) lang.Span {
	start := strings.LastIndexAny(src[:at], "\r\n") + 1
	end := strings.IndexAny(src[at:], "\r\n")
	if end < 0 {
		end = len(src) - at
	}
	return lang.Span{Start: position(src, start), End: position(src, at+end)}
}

// position counts the lines before an offset.
func position(src string, at int) lang.Pos {
	line, column := 1, 1
	for i := range at {
		column++
		if src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			line, column = line+1, 1
		}
	}
	return lang.At(at, line, column)
}
