package python

// Texts of the errors that a scanner finds; a token of the kind kError holds an index.
const (
	errCharacter uint8 = iota
	errString
	errNumber
	errIndentation
	errDepth
	errBracket
	errUnclosed
	errBrace
	errPython2
)

var errorTexts = [...]string{
	errCharacter:   "a character that begins no token",
	errString:      "a string without an end",
	errNumber:      "not a number",
	errIndentation: "indentation that fits no block",
	errDepth:       "nested too deeply",
	errBracket:     "a bracket that closes none",
	errUnclosed:    "a bracket that is never closed",
	errBrace:       "a brace of an f-string without its partner",
	errPython2:     python2,
}

// maxIndents bounds the levels of indentation, as CPython does.
const maxIndents = 100

// Brackets on the scanner's stack are the opening bytes, and these two.
const (
	inField  = 'f' // a field of an f-string, before its format
	inFormat = 's' // its format
)

// fstring is an f-string that is being scanned. Brackets above base lie in its fields.
type fstring struct {
	quote       byte
	triple, raw bool
	base        int
}

// indent is a level of indentation, with tabs to 8 columns and with tabs of 1: levels
// that compare differently in the two are inconsistent.
type indent struct{ col, alt int }

// scanner turns a source into tokens. Lines end with "\n", "\r\n" or "\r".
type scanner struct {
	src       string
	pos       int
	line      int32
	lineStart int
	toks      []token
	brackets  []byte
	fstrings  []fstring
	indents   []indent
	// fresh is set where a logical line begins.
	fresh bool
}

// scan returns the tokens of a source. The last one is kEOF, and before it each block
// has its kDedent.
func scan(src string, mark int, toks []token) []token {
	s := &scanner{src: src, pos: mark, lineStart: mark, line: 1, toks: toks[:0], indents: []indent{{}}, fresh: true}
	for s.pos < len(src) {
		switch {
		case s.fresh:
			s.beginLine()
		case len(s.fstrings) > 0 && s.literal():
			s.middle()
		default:
			s.token()
		}
	}
	if len(s.brackets) > 0 || len(s.fstrings) > 0 {
		s.fail(errUnclosed, s.pos)
	}
	if n := len(s.toks); n > 0 && s.toks[n-1].kind != kNewline && s.toks[n-1].kind != kDedent {
		s.emit(kNewline, s.pos, s.pos)
	}
	for range s.indents[1:] {
		s.emit(kDedent, s.pos, s.pos)
	}
	s.emit(kEOF, s.pos, s.pos)
	return s.toks
}

// emit adds a token that lies on the present line.
func (s *scanner) emit(k kind, start, end int) {
	s.toks = append(s.toks, token{
		kind: k, start: int32(start), end: int32(end),
		line: s.line, col: int32(start-s.lineStart) + 1, endLine: s.line, endCol: int32(end-s.lineStart) + 1,
	})
}

// fail adds an error that reaches from the present position to end.
func (s *scanner) fail(why uint8, end int) {
	s.emit(kError, s.pos, end)
	s.toks[len(s.toks)-1].skip = why
	s.pos = end
}

// newline moves behind a line's end at the present position.
func (s *scanner) newline() {
	if s.src[s.pos] == '\r' && s.at(1) == '\n' {
		s.pos++
	}
	s.pos++
	s.line++
	s.lineStart = s.pos
}

// at returns the byte n further on, and 0 behind the end.
func (s *scanner) at(n int) byte {
	if s.pos+n < len(s.src) {
		return s.src[s.pos+n]
	}
	return 0
}

// beginLine reads the indentation of a logical line. Lines without a token have none.
func (s *scanner) beginLine() {
	var now, continued indent
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ':
			now.col++
			now.alt++
		case '\t':
			now.col = (now.col/8 + 1) * 8
			now.alt++
		case '\f':
			now = indent{}
		case '\\':
			if d := s.at(1); d != '\n' && d != '\r' {
				s.indentTo(now)
				return
			}
			if continued == (indent{}) {
				continued = now
			}
			s.pos++
			s.newline()
			continue
		case '#':
			s.comment()
			continue
		case '\n', '\r':
			s.newline()
			now, continued = indent{}, indent{}
			continue
		default:
			if continued != (indent{}) {
				now = continued
			}
			s.indentTo(now)
			return
		}
		s.pos++
	}
}

// indentTo opens or closes blocks for a line with an indentation.
func (s *scanner) indentTo(now indent) {
	s.fresh = false
	top := s.indents[len(s.indents)-1]
	if now.col > top.col {
		if len(s.indents) >= maxIndents {
			s.fail(errDepth, s.pos)
			return
		}
		s.indents = append(s.indents, now)
		s.emit(kIndent, s.pos, s.pos)
		if now.alt <= top.alt {
			s.fail(errIndentation, s.pos)
		}
		return
	}
	for now.col < top.col {
		s.indents = s.indents[:len(s.indents)-1]
		top = s.indents[len(s.indents)-1]
		s.emit(kDedent, s.pos, s.pos)
	}
	if now != top {
		s.fail(errIndentation, s.pos)
	}
}

func (s *scanner) comment() {
	for s.pos < len(s.src) && s.src[s.pos] != '\n' && s.src[s.pos] != '\r' {
		s.pos++
	}
}

// token reads one token, or the space before one.
func (s *scanner) token() {
	c := s.src[s.pos]
	switch {
	case c == ' ' || c == '\t' || c == '\f':
		s.pos++
	case class[c]&cStart != 0:
		s.name()
	case c == '\n' || c == '\r':
		s.endLine()
	case c == '#':
		s.comment()
	case class[c]&cDigit != 0 || c == '.' && class[s.at(1)]&cDigit != 0:
		s.number()
	case c == '"' || c == '\'':
		s.text(s.pos, 0)
	case c == '\\':
		if d := s.at(1); d == '\n' || d == '\r' {
			s.pos++
			s.newline()
			return
		}
		s.fail(errCharacter, s.pos+1)
	default:
		s.operator(c)
	}
}

// endLine ends a logical line, or a line within brackets. Where a bracket was never
// closed, a keyword that begins a statement shows it, and the line begins anew.
func (s *scanner) endLine() {
	if len(s.brackets) == 0 && len(s.fstrings) == 0 {
		s.emit(kNewline, s.pos, s.pos)
		s.newline()
		s.fresh = true
		return
	}
	s.newline()
	p := s.pos
	for p < len(s.src) && (s.src[p] == ' ' || s.src[p] == '\t') {
		p++
	}
	q := p
	for q < len(s.src) && q-p < 10 && class[s.src[q]]&cName != 0 {
		q++
	}
	if q == p || !beginsStatement(keyword(s.src[p:q])) {
		s.pos = p
		return
	}
	s.fail(errUnclosed, s.pos)
	s.emit(kNewline, s.pos, s.pos)
	s.brackets, s.fstrings, s.fresh = s.brackets[:0], s.fstrings[:0], true
}

// name reads a name, a keyword, or a string with a prefix.
func (s *scanner) name() {
	p, wide := s.pos, uint8(0)
	for p < len(s.src) && class[s.src[p]]&cName != 0 {
		if s.src[p] >= 0x80 {
			wide = fWide
		}
		p++
	}
	if p < len(s.src) && p-s.pos <= 2 && (s.src[p] == '"' || s.src[p] == '\'') {
		if flags, ok := prefix(s.src[s.pos:p]); ok {
			s.text(p, flags)
			return
		}
		if u := s.src[s.pos:p]; u[0]|0x20 == 'u' && u[1:] != "" && u[1]|0x20 == 'r' {
			s.fail(errPython2, p)
			return
		}
	}
	s.emit(keyword(s.src[s.pos:p]), s.pos, p)
	s.toks[len(s.toks)-1].flags = wide
	s.pos = p
}

// prefix returns the flags of a string's prefix.
func prefix(word string) (uint8, bool) {
	if len(word) == 1 {
		switch word[0] | 0x20 {
		case 'r':
			return fRaw, true
		case 'b':
			return fBytes, true
		case 'u':
			return 0, true
		case 'f', 't':
			return fInterpolated, true
		}
		return 0, false
	}
	a, b := word[0]|0x20, word[1]|0x20
	if b == 'r' {
		a, b = b, a
	}
	if a != 'r' {
		return 0, false
	}
	switch b {
	case 'b':
		return fRaw | fBytes, true
	case 'f', 't':
		return fRaw | fInterpolated, true
	}
	return 0, false
}

// operator reads an operator or a delimiter.
func (s *scanner) operator(c byte) {
	k, n := kError, 1
	d := s.at(1)
	switch c {
	case '(', '[', '{':
		s.brackets = append(s.brackets, c)
		k = opening(c)
	case ')', ']', '}':
		s.close(c)
		return
	case ':':
		if n := len(s.brackets); n > 0 && s.brackets[n-1] == inField {
			s.brackets[n-1] = inFormat
			k = kFormat
			break
		}
		k = kColon
		if d == '=' {
			k, n = kWalrus, 2
		}
	case ',':
		k = kComma
	case ';':
		k = kSemicolon
	case '~':
		k = kTilde
	case '.':
		k = kDot
		if d == '.' && s.at(2) == '.' {
			k, n = kEllipsis, 3
		}
	case '!':
		if d == '=' {
			k, n = kNotEqual, 2
		} else if n := len(s.brackets); n > 0 && s.brackets[n-1] == inField {
			k = kExclaim
		}
	case '=':
		k = kAssign
		if d == '=' {
			k, n = kEqual, 2
		}
	case '<', '>':
		k, n = s.compare(c, d)
	case '-':
		k = kMinus
		switch d {
		case '>':
			k, n = kArrow, 2
		case '=':
			k, n = kAugAssign, 2
		}
	default:
		k, n = s.binary(c, d)
	}
	if k == kError {
		s.badCharacter(c)
		return
	}
	s.emit(k, s.pos, s.pos+n)
	s.pos += n
}

// opening is the kind of an opening bracket.
func opening(c byte) kind {
	switch c {
	case '(':
		return kLParen
	case '[':
		return kLBracket
	}
	return kLBrace
}

// compare reads < <= << <<= > >= >> >>= and the <> of Python 2.
func (s *scanner) compare(c, d byte) (kind, int) {
	switch {
	case d == '=' && c == '<':
		return kLessEqual, 2
	case d == '=':
		return kGreaterEqual, 2
	case d == c && s.at(2) == '=':
		return kAugAssign, 3
	case d == c:
		return kShift, 2
	case c == '<' && d == '>':
		return kError, 2
	case c == '<':
		return kLess, 1
	}
	return kGreater, 1
}

// binary reads the operators that may be doubled or end with "=".
func (s *scanner) binary(c, d byte) (kind, int) {
	var one, two kind
	switch c {
	case '+':
		one = kPlus
	case '*':
		one, two = kStar, kPower
	case '/':
		one, two = kSlash, kDoubleSlash
	case '%':
		one = kPercent
	case '@':
		one = kAt
	case '|':
		one = kPipe
	case '&':
		one = kAmp
	case '^':
		one = kCaret
	default:
		return kError, 1
	}
	switch {
	case d == '=':
		return kAugAssign, 2
	case two != 0 && d == c && s.at(2) == '=':
		return kAugAssign, 3
	case two != 0 && d == c:
		return two, 2
	}
	return one, 1
}

// close reads a closing bracket.
func (s *scanner) close(c byte) {
	n := len(s.brackets)
	if base := s.base(); n <= base {
		s.fail(errBracket, s.pos+1)
		return
	}
	open := s.brackets[n-1]
	s.brackets = s.brackets[:n-1]
	k := kError
	switch {
	case c == ')' && open == '(':
		k = kRParen
	case c == ']' && open == '[':
		k = kRBracket
	case c == '}' && (open == '{' || open == inField):
		k = kRBrace
	}
	if k == kError {
		s.fail(errBracket, s.pos+1)
		return
	}
	s.emit(k, s.pos, s.pos+1)
	s.pos++
}

// base is the number of brackets outside the present f-string.
func (s *scanner) base() int {
	if n := len(s.fstrings); n > 0 {
		return s.fstrings[n-1].base
	}
	return 0
}

func (s *scanner) badCharacter(c byte) {
	why := errCharacter
	if c == '`' || c == '<' {
		why = errPython2
	}
	s.fail(why, s.pos+1)
}
