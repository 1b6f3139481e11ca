package python

import "strings"

// stops marks the bytes at which the scanning of a string has to look closer.
var stops [256]bool

func init() {
	for c := range stops {
		stops[c] = c == '\\' || c == '"' || c == '\'' || c == '\n' || c == '\r' || c == '{' || c == '}' || c >= 0x80
	}
}

// text reads a string whose prefix begins here and whose quotes begin at p.
func (s *scanner) text(p int, flags uint8) {
	quote := s.src[p]
	n := 1
	if p+2 < len(s.src) && s.src[p+1] == quote && s.src[p+2] == quote {
		n = 3
		flags |= fTriple
	}
	start := s.pos
	skip := uint8(p + n - start)
	if flags&fInterpolated != 0 {
		s.emit(kFStart, start, p+n)
		s.toks[len(s.toks)-1].flags = flags
		s.fstrings = append(s.fstrings, fstring{quote: quote, triple: n == 3, raw: flags&fRaw != 0, base: len(s.brackets)})
		s.pos = p + n
		return
	}
	line, lineStart := s.line, s.lineStart
	s.pos = p + n
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if !stops[c] {
			s.pos++
			continue
		}
		switch {
		case c == quote && (n == 1 || s.at(1) == quote && s.at(2) == quote):
			s.pos += n
			s.toks = append(s.toks, token{
				kind: kString, flags: flags, skip: skip, start: int32(start), end: int32(s.pos),
				line: line, col: int32(start-lineStart) + 1, endLine: s.line, endCol: int32(s.pos-s.lineStart) + 1,
			})
			return
		case c == '\\':
			flags |= fEscaped
			s.escape()
		case c == '\n' || c == '\r':
			if n == 1 {
				s.unterminated(start, line, lineStart)
				return
			}
			if c == '\r' {
				flags |= fEscaped
			}
			s.newline()
		default:
			if c >= 0x80 {
				flags |= fWide
			}
			s.pos++
		}
	}
	s.unterminated(start, line, lineStart)
}

// escape moves behind a backslash and what it escapes.
func (s *scanner) escape() {
	s.pos++
	if s.pos == len(s.src) {
		return
	}
	if c := s.src[s.pos]; c == '\n' || c == '\r' {
		s.newline()
		return
	}
	s.pos++
}

// unterminated adds an error for a string that ends at the present position.
func (s *scanner) unterminated(start int, line int32, lineStart int) {
	s.toks = append(s.toks, token{
		kind: kError, skip: errString, start: int32(start), end: int32(s.pos),
		line: line, col: int32(start-lineStart) + 1, endLine: s.line, endCol: int32(s.pos-s.lineStart) + 1,
	})
}

// literal reports whether the scanner is in the literal part of an f-string or in a
// format, and not in an expression.
func (s *scanner) literal() bool {
	f := s.fstrings[len(s.fstrings)-1]
	n := len(s.brackets)
	return n == f.base || s.brackets[n-1] == inFormat
}

// middle reads the literal part of an f-string, and the brace or the quotes behind it.
func (s *scanner) middle() {
	f := s.fstrings[len(s.fstrings)-1]
	m := token{kind: kFMiddle, start: int32(s.pos), line: s.line, col: int32(s.pos-s.lineStart) + 1}
	spec := len(s.brackets) > f.base
	if spec {
		m.flags |= fSpec
	}
	if f.raw {
		m.flags |= fRaw
	}
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if !stops[c] {
			s.pos++
			continue
		}
		switch {
		case c == '{' && !spec && s.at(1) == '{', c == '}' && !spec && s.at(1) == '}':
			m.flags |= fEscaped
			s.pos += 2
		case c == '{':
			s.endMiddle(m)
			s.emit(kLBrace, s.pos, s.pos+1)
			s.brackets = append(s.brackets, inField)
			s.pos++
			return
		case c == '}':
			s.endMiddle(m)
			if !spec {
				s.fail(errBrace, s.pos+1)
				return
			}
			s.emit(kRBrace, s.pos, s.pos+1)
			s.brackets = s.brackets[:len(s.brackets)-1]
			s.pos++
			return
		case c == f.quote && (!f.triple || s.at(1) == c && s.at(2) == c):
			s.endMiddle(m)
			s.endFString(f, spec)
			return
		case c == '\\':
			m.flags |= fEscaped
			s.escapeMiddle(f.raw)
		case c == '\n' || c == '\r':
			if !f.triple {
				s.endMiddle(m)
				s.fail(errString, s.pos)
				s.drop(f)
				return
			}
			if c == '\r' {
				m.flags |= fEscaped
			}
			s.newline()
		default:
			if c >= 0x80 {
				m.flags |= fWide
			}
			s.pos++
		}
	}
	s.endMiddle(m)
}

// endMiddle adds a literal part that ends here, unless it is empty.
func (s *scanner) endMiddle(m token) {
	if int(m.start) == s.pos {
		return
	}
	m.end, m.endLine, m.endCol = int32(s.pos), s.line, int32(s.pos-s.lineStart)+1
	s.toks = append(s.toks, m)
}

// endFString reads the closing quotes. Within a format they come too early.
func (s *scanner) endFString(f fstring, early bool) {
	n := 1
	if f.triple {
		n = 3
	}
	if early {
		s.fail(errBrace, s.pos+n)
	} else {
		s.emit(kFEnd, s.pos, s.pos+n)
		s.pos += n
	}
	s.drop(f)
}

// drop leaves the present f-string, with the brackets of its fields.
func (s *scanner) drop(f fstring) {
	s.brackets = s.brackets[:f.base]
	s.fstrings = s.fstrings[:len(s.fstrings)-1]
}

// escapeMiddle moves behind an escape of an f-string. A brace ends the literal part
// even there, except in a character's name.
func (s *scanner) escapeMiddle(raw bool) {
	switch d := s.at(1); {
	case d == '{' || d == '}':
		s.pos++
	case d == 'N' && !raw && s.at(2) == '{':
		if i := strings.IndexAny(s.src[s.pos:min(len(s.src), s.pos+100)], "}\"'\n"); i > 0 && s.src[s.pos+i] == '}' {
			s.pos += i + 1
			return
		}
		s.pos += 2
	default:
		s.escape()
	}
}

// number reads a number. One that runs into a name is an error, unless the name begins
// with a keyword that may follow a number: 1if x else 2.
func (s *scanner) number() {
	p, whole := s.numberEnd()
	if p < len(s.src) && class[s.src[p]]&cName != 0 {
		q := p
		for q < len(s.src) && class[s.src[q]]&cName != 0 {
			q++
		}
		switch rest := s.src[p:q]; {
		case whole && (rest == "l" || rest == "L"), whole && s.src[s.pos] == '0' && class[rest[0]]&cDigit != 0 && s.src[s.pos+1]|0x20 != 'o' && s.src[s.pos+1]|0x20 != 'b':
			s.fail(errPython2, q)
			return
		case !followsNumber(rest):
			s.fail(errNumber, q)
			return
		}
	}
	s.emit(kNumber, s.pos, p)
	s.pos = p
}

func followsNumber(rest string) bool {
	for _, k := range []string{"and", "else", "for", "if", "in", "is", "not", "or"} {
		if strings.HasPrefix(rest, k) {
			return true
		}
	}
	return false
}

// numberEnd returns where a number ends, and whether it is an integer.
func (s *scanner) numberEnd() (end int, whole bool) {
	p := s.pos
	if s.src[p] == '0' {
		q := 0
		switch s.at(1) | 0x20 {
		case 'x':
			q = s.digits(p+2, cHex, '0', true)
		case 'o':
			q = s.digits(p+2, cDigit, '8', true)
		case 'b':
			q = s.digits(p+2, cDigit, '2', true)
		}
		switch {
		case q > p+2:
			return q, true
		case q > 0:
			return p + 1, true
		}
	}
	whole = true
	if s.src[p] != '.' {
		p = s.digits(p, cDigit, '0', false)
	}
	integer := p
	if p < len(s.src) && s.src[p] == '.' {
		whole = false
		p = s.digits(p+1, cDigit, '0', false)
	}
	if p < len(s.src) && s.src[p]|0x20 == 'e' {
		q := p + 1
		if q < len(s.src) && (s.src[q] == '+' || s.src[q] == '-') {
			q++
		}
		if q < len(s.src) && class[s.src[q]]&cDigit != 0 {
			whole = false
			p = s.digits(q, cDigit, '0', false)
		}
	}
	if p < len(s.src) && s.src[p]|0x20 == 'j' {
		whole = false
		p++
	}
	// 0777 is an octal number of Python 2: it ends behind its zeros.
	if whole && s.src[s.pos] == '0' && strings.Trim(s.src[s.pos:integer], "0_") != "" {
		return s.pos + 1, true
	}
	return p, whole
}

// digits moves over digits with single underscores between them, or before the first
// where that is allowed. Digits at or above limit end the number; '0' is no limit.
func (s *scanner) digits(p int, mask uint8, limit byte, under bool) int {
	for p < len(s.src) {
		c := s.src[p]
		switch {
		case class[c]&mask != 0 && (limit == '0' || c < limit):
			under = true
		case c == '_' && under && p+1 < len(s.src) && class[s.src[p+1]]&mask != 0:
			under = false
		default:
			return p
		}
		p++
	}
	return p
}
