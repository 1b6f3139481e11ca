package python

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// strings parses adjacent strings, which are one Const, or one Template where an
// f-string is among them.
func (p *parser) strings() lang.Expr {
	start := p.i
	first := p.toks[start]
	if p.k == kString && p.peek() != kString && p.peek() != kFStart {
		p.next()
		return lang.Const{Span: p.span(start), Kind: constKind(first), Text: p.text(first)}
	}
	t := template{p: p}
	plain := true
	for p.k == kString || p.k == kFStart {
		tok := p.toks[p.i]
		if (tok.flags^first.flags)&fBytes != 0 {
			p.fail("bytes beside a string")
		}
		if p.k == kFStart {
			plain = false
			p.fstring(&t)
			continue
		}
		t.literal(p.text(tok), p.i)
		p.next()
	}
	span := p.span(start)
	if plain {
		return lang.Const{Span: span, Kind: constKind(first), Text: t.text.String()}
	}
	t.flush()
	return lang.Template{Span: span, Parts: t.parts}
}

func constKind(t token) lang.ConstKind {
	if t.flags&fBytes != 0 {
		return lang.Bytes
	}
	return lang.String
}

// template collects the parts of a Template: literal text that meets becomes one part.
type template struct {
	p     *parser
	parts []lang.Expr
	text  strings.Builder
	some  bool
	span  lang.Span
}

// literal adds the text that a token stands for.
func (t *template) literal(text string, tok int) {
	at := lang.Span{Start: t.p.toks[tok].begin(), End: t.p.toks[tok].stop()}
	if !t.some {
		t.span.Start, t.some = at.Start, true
	}
	t.span.End = at.End
	t.text.WriteString(text)
}

// flush ends the present literal part.
func (t *template) flush() {
	if t.some && t.text.Len() > 0 {
		t.parts = append(t.parts, lang.Const{Span: t.span, Kind: lang.String, Text: t.text.String()})
	}
	t.text.Reset()
	t.some = false
}

// fstring parses one f-string into a template.
func (p *parser) fstring(t *template) {
	p.enter()
	defer p.leave()
	p.next()
	for {
		switch p.k {
		case kFMiddle:
			t.literal(p.middle(p.toks[p.i]), p.i)
			p.next()
		case kLBrace:
			p.field(t)
		default:
			p.expect(kFEnd)
			return
		}
	}
}

// field parses a field in braces.
func (p *parser) field(t *template) {
	brace := p.i
	p.next()
	x := p.yieldOrStars()
	if p.k == kAssign {
		p.next()
		if !p.failed {
			t.literal(p.wide(newlines(p.uncommented(brace))), brace)
		}
	}
	if p.accept(kExclaim) && p.expect(kName) {
		if w := p.word(p.last); w != "r" && w != "s" && w != "a" {
			p.fail("not a conversion")
		}
	}
	t.flush()
	if p.k == kFormat {
		start := p.i
		p.next()
		spec := template{p: p}
		for p.k == kFMiddle || p.k == kLBrace {
			if p.k == kLBrace {
				p.enter()
				p.field(&spec)
				p.leave()
				continue
			}
			spec.literal(p.middle(p.toks[p.i]), p.i)
			p.next()
		}
		spec.flush()
		format := lang.Expr(lang.Template{Span: p.span(start), Parts: spec.parts})
		x = lang.Operation{Span: p.span(brace + 1), Op: "format", Operands: []lang.Expr{x, format}}
	}
	p.expect(kRBrace)
	t.parts = append(t.parts, x)
}

// uncommented is the source between a brace and the present token, without comments.
func (p *parser) uncommented(brace int) string {
	start, end := p.toks[brace].end, p.toks[p.i].start
	s := p.src[start:end]
	if strings.IndexByte(s, '#') < 0 {
		return s
	}
	var b strings.Builder
	for i := brace; i < p.i; i++ {
		if i > brace {
			b.WriteString(p.word(i))
		}
		gap := p.src[p.toks[i].end:p.toks[i+1].start]
		for l := range strings.Lines(gap) {
			text, _, found := strings.Cut(l, "#")
			b.WriteString(text)
			if found && strings.HasSuffix(l, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// text is the value of a string's token.
func (p *parser) text(t token) string {
	n := int32(1)
	if t.flags&fTriple != 0 {
		n = 3
	}
	s := p.src[t.start+int32(t.skip) : t.end-n]
	if t.flags&fWide != 0 {
		if t.flags&fBytes != 0 {
			p.fail("bytes with a character beyond ASCII")
		}
		s = p.wide(s)
	}
	if t.flags&fEscaped == 0 {
		return s
	}
	s = newlines(s)
	if t.flags&fRaw != 0 {
		return s
	}
	return p.unescape(s, t.flags&fBytes != 0)
}

// middle is the value of a literal part of an f-string.
func (p *parser) middle(t token) string {
	s := p.src[t.start:t.end]
	if t.flags&fWide != 0 {
		s = p.wide(s)
	}
	if t.flags&fEscaped == 0 {
		return s
	}
	s = newlines(s)
	if t.flags&fRaw == 0 {
		s = p.unescapeAround(s, t.flags&fSpec == 0)
	} else if t.flags&fSpec == 0 {
		s = braces.Replace(s)
	}
	return s
}

var braces = strings.NewReplacer("{{", "{", "}}", "}")

// unescapeAround decodes escapes, and doubled braces but for those of \N{…}.
func (p *parser) unescapeAround(s string, doubled bool) string {
	if !doubled {
		return p.unescape(s, false)
	}
	var b strings.Builder
	for {
		i := strings.Index(s, `\N{`)
		if i < 0 || oddBackslashes(s[:i]) {
			b.WriteString(p.unescape(braces.Replace(s), false))
			return b.String()
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			p.fail(badEscape)
			return ""
		}
		b.WriteString(p.unescape(braces.Replace(s[:i]), false))
		b.WriteString(p.unescape(s[i:i+end+1], false))
		s = s[i+end+1:]
	}
}

// oddBackslashes reports whether a text ends with an odd number of backslashes.
func oddBackslashes(s string) bool {
	n := len(s) - len(strings.TrimRight(s, `\`))
	return n%2 == 1
}

// newlines makes every line end with "\n", as Python does before it reads a string.
func newlines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// wide is a text in UTF-8.
func (p *parser) wide(s string) string {
	if p.table == nil {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(p.table.DecodeByte(s[i]))
	}
	return b.String()
}

const badEscape = "an escape without a character"

// simpleEscapes holds the escapes of one letter.
var simpleEscapes = [256]byte{
	'\\': '\\', '\'': '\'', '"': '"', 'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// escapeSizes holds the digits of escapes by number.
var escapeSizes = [256]int{'x': 2, 'u': 4, 'U': 8}

// unescape decodes the escapes of a string or of bytes. Unknown ones stay as they are.
func (p *parser) unescape(s string, bytes bool) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i >= 0 && i+1 < len(s) {
		b = append(b, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		switch {
		case c == '\n':
		case simpleEscapes[c] != 0:
			b = append(b, simpleEscapes[c])
		case c >= '0' && c <= '7':
			n := int(c - '0')
			for k := 0; k < 2 && s != "" && s[0] >= '0' && s[0] <= '7'; k++ {
				n = n*8 + int(s[0]-'0')
				s = s[1:]
			}
			b = character(b, n, bytes)
		case c == 'x', !bytes && (c == 'u' || c == 'U'):
			size := escapeSizes[c]
			n, err := strconv.ParseUint(s[:min(size, len(s))], 16, 32)
			if err != nil || len(s) < size || n > utf8.MaxRune {
				p.fail(badEscape)
				return ""
			}
			b = character(b, int(n), bytes)
			s = s[size:]
		case c == 'N' && !bytes:
			end := strings.IndexByte(s, '}')
			if end < 0 || s[0] != '{' {
				p.fail(badEscape)
				return ""
			}
			b = append(b, named(s[1:end])...)
			s = s[end+1:]
		default:
			b = append(b, '\\', c)
		}
		i = strings.IndexByte(s, '\\')
	}
	return string(append(b, s...))
}

// character appends a character, or a byte. A surrogate alone, which UTF-8 has no place
// for, is written in three bytes like its neighbours.
func character(b []byte, n int, bytes bool) []byte {
	switch {
	case bytes:
		return append(b, byte(n))
	case n >= 0xd800 && n <= 0xdfff:
		return append(b, 0xe0|byte(n>>12), 0x80|byte(n>>6)&0x3f|0x80, 0x80|byte(n)&0x3f)
	}
	return utf8.AppendRune(b, rune(n))
}
