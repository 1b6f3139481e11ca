package javascript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// lexer cuts a source into tokens, one at a time. What a "/", a "}" or a ">" is depends
// on the grammar, so the parser asks for another reading of the current token.
type lexer struct {
	src string
	state
}

// state is all that the parser saves to come back to a place.
type state struct {
	tok token
	// pos, line and lineStart are behind the current token.
	pos, line, lineStart int
	// prev is the end of the token before.
	prev lang.Pos
	// arrowEnd is the offset behind the last arrow function: no operator may follow it.
	arrowEnd int
	// bad is the token at which the parser failed, and why; then tok is the end.
	bad    token
	failed bool
	why    string
	context
}

// class of a byte.
const (
	identStart = 1 << iota
	identPart
	stringStop // ends the fast way through a string
)

var classes = func() (c [256]uint8) {
	for b := range c {
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '$'
		if letter {
			c[b] |= identStart
		}
		if letter || b >= '0' && b <= '9' {
			c[b] |= identPart
		}
	}
	for _, b := range "\"'`\\\r\n$" {
		c[b] |= stringStop
	}
	c[0xE2] |= stringStop
	return c
}()

// at returns the byte at an offset, 0 behind the end.
func (l *lexer) at(i int) byte {
	if i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// text returns the current token as it is written.
func (l *lexer) text() string { return l.src[l.tok.start:l.tok.end] }

// name returns the identifier that the current token is, without escapes.
func (l *lexer) name() string {
	if l.tok.escaped {
		return unescapeName(l.text())
	}
	return l.text()
}

// is tells whether the current token is this contextual word.
func (l *lexer) is(word string) bool { return l.tok.kind == tIdent && l.text() == word }

// start returns the position of the current token.
func (l *lexer) start() lang.Pos {
	return lang.At(l.tok.start, l.tok.line, l.tok.start-l.tok.lineStart+1)
}

// behind returns the position behind the current token.
func (l *lexer) behind() lang.Pos {
	return lang.At(l.pos, l.line, l.pos-l.lineStart+1)
}

// next reads the next token.
func (l *lexer) next() {
	if l.failed {
		return
	}
	l.prev = l.behind()
	whole := l.skipSpace(l.pos == 0)
	l.tok.start, l.tok.line, l.tok.lineStart, l.tok.escaped = l.pos, l.line, l.lineStart, false
	if whole {
		l.scan()
	} else {
		l.tok.kind, l.pos = tBad, len(l.src)
	}
	l.tok.end = l.pos
}

// newlineAt returns the length of the line terminator at an offset, 0 for none. U+2028
// and U+2029 are ones: ECMA-262, 12.3.
func (l *lexer) newlineAt(i int) int {
	switch l.src[i] {
	case '\n':
		return 1
	case '\r':
		if l.at(i+1) == '\n' {
			return 2
		}
		return 1
	case 0xE2:
		if l.at(i+1) == 0x80 && (l.at(i+2) == 0xA8 || l.at(i+2) == 0xA9) {
			return 3
		}
	}
	return 0
}

// lines counts the lines that end before an offset, and moves there.
func (l *lexer) lines(to int) (any bool) {
	for i := l.pos; i < to; {
		if c := l.src[i]; c > '\r' && c != 0xE2 {
			i++
			continue
		}
		if n := l.newlineAt(i); n > 0 {
			i += n
			l.line++
			l.lineStart = i
			any = true
			continue
		}
		i++
	}
	l.pos = to
	return any
}

// skipSpace moves to the next token. It fails at a comment without an end.
func (l *lexer) skipSpace(first bool) (whole bool) {
	l.tok.newline = false
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == ' ' || c == '\t':
			l.pos++
		case c == '\n' || c == '\r':
			l.lines(l.pos + l.newlineAt(l.pos))
			l.tok.newline = true
		case c == '/' && l.at(l.pos+1) == '/':
			l.skipLine()
		case c == '/' && l.at(l.pos+1) == '*':
			n := strings.Index(l.src[l.pos+2:], "*/")
			if n < 0 {
				return false
			}
			l.tok.newline = l.lines(l.pos+2+n+2) || l.tok.newline
		case c == '<' && !l.module && strings.HasPrefix(l.src[l.pos:], "<!--"):
			l.skipLine()
		case c == '-' && !l.module && (first || l.tok.newline) && strings.HasPrefix(l.src[l.pos:], "-->"):
			l.skipLine()
		case c == '\v' || c == '\f':
			l.pos++
		case c >= utf8.RuneSelf:
			if n := l.newlineAt(l.pos); n > 0 {
				l.lines(l.pos + n)
				l.tok.newline = true
				continue
			}
			r, n := utf8.DecodeRuneInString(l.src[l.pos:])
			if r != 0xFEFF && !unicode.Is(unicode.Zs, r) {
				return true
			}
			l.pos += n
		default:
			return true
		}
	}
	return true
}

// skipLine moves to the end of the line.
func (l *lexer) skipLine() {
	for ; l.pos < len(l.src); l.pos++ {
		if c := l.src[l.pos]; (c == '\n' || c == '\r' || c == 0xE2) && l.newlineAt(l.pos) > 0 {
			return
		}
	}
}

// scan reads the token at pos.
func (l *lexer) scan() {
	if l.pos >= len(l.src) {
		l.tok.kind = tEOF
		return
	}
	c := l.src[l.pos]
	switch {
	case classes[c]&identStart != 0:
		l.scanWord()
	case c == '"' || c == '\'':
		l.scanString(c)
	case c == '`':
		l.pos++
		l.scanTemplate(tTemplate, tHead)
	case c >= '0' && c <= '9' || c == '.' && isDigit(l.at(l.pos+1)):
		l.scanNumber()
	case c == '\\' || c >= utf8.RuneSelf:
		if l.tok.kind = tIdent; !l.scanNameSlowly() {
			l.tok.kind = tBad
			_, n := utf8.DecodeRuneInString(l.src[l.pos:])
			l.pos += n
		}
	case c == '#':
		l.pos++
		if l.tok.kind = tPrivate; !l.scanNameSlowly() {
			l.tok.kind = tBad
		}
	default:
		l.scanPunctuator(c)
	}
}

// scanWord reads an identifier or a keyword that begins with a letter of ASCII.
func (l *lexer) scanWord() {
	i := l.pos + 1
	for i < len(l.src) && classes[l.src[i]]&identPart != 0 {
		i++
	}
	if i < len(l.src) && (l.src[i] == '\\' || l.src[i] >= utf8.RuneSelf) {
		l.tok.kind = tIdent
		l.scanNameSlowly()
		return
	}
	l.tok.kind = keyword(l.src[l.pos:i])
	l.pos = i
}

// scanNameSlowly reads an identifier with any characters and escapes, and reports whether
// there is one.
func (l *lexer) scanNameSlowly() bool {
	from := l.pos
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c == '\\' {
			r, n := escapedRune(l.src[l.pos:])
			if n == 0 || !isIdentRune(r) {
				break
			}
			l.tok.escaped = true
			l.pos += n
			continue
		}
		r, n := utf8.DecodeRuneInString(l.src[l.pos:])
		if !isIdentRune(r) {
			break
		}
		l.pos += n
	}
	return l.pos > from
}

// isIdentRune tells whether a character may be in an identifier. Whether it may begin
// one too makes no difference to how a source is read.
func isIdentRune(r rune) bool {
	if r < utf8.RuneSelf {
		return classes[r]&identPart != 0
	}
	return r != utf8.RuneError && (unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc, unicode.Other_ID_Start, unicode.Other_ID_Continue) || r == 0x200C || r == 0x200D)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// scanNumber reads a number in any notation.
func (l *lexer) scanNumber() {
	l.tok.kind = tNumber
	i := l.pos
	based := l.src[i] == '0' && i+1 < len(l.src) && strings.IndexByte("xXoObB", l.src[i+1]) >= 0
	dot := based
	for ; i < len(l.src); i++ {
		c := l.src[i]
		switch {
		case classes[c]&identPart != 0 && c != '$':
			if !based && (c == 'e' || c == 'E') {
				dot = true
				if s := l.at(i + 1); s == '+' || s == '-' {
					i++
				}
			}
		case c == '.' && !dot:
			dot = true
		default:
			l.pos = i
			return
		}
	}
	l.pos = i
}
