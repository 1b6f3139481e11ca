package javascript

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanString reads a string up to its quote. One without an end ends with its line.
func (l *lexer) scanString(quote byte) {
	l.tok.kind = tString
	for i := l.pos + 1; i < len(l.src); i++ {
		c := l.src[i]
		if classes[c]&stringStop == 0 {
			continue
		}
		switch c {
		case quote:
			l.pos = i + 1
			return
		case '\\':
			l.tok.escaped = true
			if i++; i < len(l.src) {
				if n := l.newlineAt(i); n > 0 {
					l.lines(i + n)
					i += n - 1
				}
			}
		case '\n', '\r':
			l.tok.kind, l.pos = tBad, i
			return
		case 0xE2: // U+2028 and U+2029 end a line, but no string
			if n := l.newlineAt(i); n > 0 {
				l.lines(i + n)
				i += n - 1
			}
		}
	}
	l.tok.kind, l.pos = tBad, len(l.src)
}

// scanTemplate reads a piece of a template from pos on, to the backtick or "${".
func (l *lexer) scanTemplate(last, more kind) {
	for i := l.pos; i < len(l.src); i++ {
		c := l.src[i]
		if classes[c]&stringStop == 0 {
			continue
		}
		switch c {
		case '`':
			l.tok.kind = last
			l.lines(i + 1)
			return
		case '$':
			if l.at(i+1) == '{' {
				l.tok.kind = more
				l.lines(i + 2)
				return
			}
		case '\\':
			l.tok.escaped = true
			i++
		}
	}
	l.tok.kind = tBad
	l.lines(len(l.src))
}

// continueTemplate reads the current "}" as the end of a substitution.
func (l *lexer) continueTemplate() {
	l.pos = l.tok.start + 1
	l.tok.escaped = false
	l.scanTemplate(tTail, tMiddle)
	l.tok.end = l.pos
}

// regexp reads the current "/" or "/=" as the start of a regular expression. It leaves
// the token as it is where that has no end.
func (l *lexer) regexp() bool {
	class := false
	for i := l.tok.start + 1; i < len(l.src); i++ {
		switch c := l.src[i]; c {
		case '\\':
			if i++; i < len(l.src) && l.newlineAt(i) > 0 {
				return false
			}
		case '[':
			class = true
		case ']':
			class = false
		case '\n', '\r', 0xE2:
			if l.newlineAt(i) > 0 {
				return false
			}
		case '/':
			if class {
				continue
			}
			for i++; i < len(l.src) && classes[l.src[i]]&identPart != 0; {
				i++
			}
			l.tok.kind = tRegexp
			l.pos, l.tok.end = i, i
			return true
		}
	}
	return false
}

// piece is the value of the current template token.
func (l *lexer) piece() string {
	s := l.text()
	s = s[1:]
	if l.tok.kind == tHead || l.tok.kind == tMiddle {
		s = s[:len(s)-2]
	} else {
		s = s[:len(s)-1]
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if !l.tok.escaped {
		return s
	}
	return unescape(s, true)
}

// unescape decodes the escapes of a string. A surrogate without its half becomes U+FFFD.
// A template has no octal escapes; a wrong escape stays as it is written there.
func unescape(s string, template bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 {
			b.WriteString(s[i:])
			break
		}
		b.WriteString(s[i : i+n])
		i += n
		if i+1 == len(s) {
			break
		}
		if template && wrongInTemplate(s[i:]) {
			b.WriteString(s[i : i+2])
			i += 2
			continue
		}
		i += unescapeOne(&b, s[i:])
	}
	return b.String()
}

// wrongInTemplate tells whether a template may not have the escape at the start of s.
func wrongInTemplate(s string) bool {
	switch c := s[1]; c {
	case 'x', 'u':
		_, n := escapedRune(s)
		return n == 0
	case '0':
		return len(s) > 2 && isDigit(s[2])
	default:
		return isDigit(c)
	}
}

// unescapeOne writes the character of the escape at the start of s, and returns the
// escape's length.
func unescapeOne(b *strings.Builder, s string) int {
	switch c := s[1]; c {
	case 'n', 't', 'r', 'b', 'f', 'v':
		b.WriteByte(map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v'}[c])
		return 2
	case '\r':
		if len(s) > 2 && s[2] == '\n' {
			return 3
		}
		return 2
	case '\n':
		return 2
	case 'x', 'u':
		r, n := escapedRune(s)
		if n == 0 {
			b.WriteByte(c)
			return 2
		}
		if utf16.IsSurrogate(r) {
			if low, m := escapedRune(s[n:]); m > 0 && utf16.DecodeRune(r, low) != utf8.RuneError {
				r, n = utf16.DecodeRune(r, low), n+m
			}
		}
		b.WriteRune(r)
		return n
	case '0', '1', '2', '3', '4', '5', '6', '7':
		// ECMA-262, annex B.1.2: up to three digits, at most \377.
		v, n := rune(0), 1
		for n < len(s) && n < 4 && s[n] >= '0' && s[n] <= '7' && v*8+rune(s[n]-'0') <= 0xFF {
			v = v*8 + rune(s[n]-'0')
			n++
		}
		b.WriteRune(v)
		return n
	}
	r, n := utf8.DecodeRuneInString(s[1:])
	if r != 0x2028 && r != 0x2029 {
		b.WriteString(s[1 : 1+n])
	}
	return 1 + n
}

// escapedRune decodes \xHH, \uHHHH or \u{H…} at the start of s; n is 0 for none.
func escapedRune(s string) (r rune, n int) {
	switch {
	case strings.HasPrefix(s, `\x`):
		return hex(s, 2, 4)
	case strings.HasPrefix(s, `\u{`):
		end := strings.IndexByte(s[:min(len(s), 64)], '}')
		if end < 4 {
			return 0, 0
		}
		r, n = hex(s, 3, end)
		if n == 0 || r > utf8.MaxRune {
			return 0, 0
		}
		return r, end + 1
	case strings.HasPrefix(s, `\u`):
		return hex(s, 2, 6)
	}
	return 0, 0
}

// hex reads the hexadecimal digits s[from:to].
func hex(s string, from, to int) (r rune, n int) {
	if len(s) < to {
		return 0, 0
	}
	for _, c := range []byte(s[from:to]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|32 >= 'a' && c|32 <= 'f':
			c = c | 32 - 'a' + 10
		default:
			return 0, 0
		}
		if r = r<<4 | rune(c); r > utf8.MaxRune {
			return utf8.MaxRune + 1, to
		}
	}
	return r, to
}

// unescapeName decodes the escapes of an identifier.
func unescapeName(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		if r, n := escapedRune(s); n > 0 {
			b.WriteRune(r)
			s = s[n:]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}
