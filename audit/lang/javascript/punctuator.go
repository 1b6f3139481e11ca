package javascript

// punctuators holds those of several bytes by their first byte, the longest first. ">"
// is always a token of its own: types and JSX need it so.
var punctuators = func() (t [128][]punctuator) {
	for _, p := range []punctuator{
		{"...", tEllipsis}, {"=>", tArrow}, {"===", tEqEq}, {"==", tEq}, {"!==", tNotEqEq}, {"!=", tNotEq},
		{"**=", tPowerAssign}, {"**", tPower}, {"*=", tStarAssign}, {"++", tInc}, {"+=", tPlusAssign}, {"--", tDec}, {"-=", tMinusAssign},
		{"&&=", tAndAssign}, {"&&", tAnd}, {"&=", tBitAndAssign}, {"||=", tOrAssign}, {"||", tOr}, {"|=", tBitOrAssign},
		{"??=", tNullishAssign}, {"??", tNullish}, {"<<=", tShlAssign}, {"<<", tShl}, {"<=", tLtEq},
		{"/=", tSlashAssign}, {"%=", tPercentAssign}, {"^=", tXorAssign},
	} {
		t[p.text[0]] = append(t[p.text[0]], p)
	}
	return t
}()

type punctuator struct {
	text string
	kind kind
}

// singles holds the punctuators of one byte.
var singles = [128]kind{
	'{': tLBrace, '}': tRBrace, '(': tLParen, ')': tRParen, '[': tLBracket, ']': tRBracket, ';': tSemi, ',': tComma, ':': tColon,
	'.': tDot, '?': tQuestion, '@': tAt, '!': tBang, '~': tTilde, '|': tBitOr, '^': tXor, '&': tBitAnd, '<': tLt, '>': tGt,
	'+': tPlus, '-': tMinus, '*': tStar, '/': tSlash, '%': tPercent, '=': tAssign,
}

// scanPunctuator reads a punctuator, or one byte that is none.
func (l *lexer) scanPunctuator(c byte) {
	for _, p := range punctuators[c&127] {
		if n := len(p.text); l.pos+n <= len(l.src) && l.src[l.pos:l.pos+n] == p.text {
			l.tok.kind = p.kind
			l.pos += n
			return
		}
	}
	if c == '?' && l.at(l.pos+1) == '.' && !isDigit(l.at(l.pos+2)) {
		l.tok.kind = tQuestionDot
		l.pos += 2
		return
	}
	if l.tok.kind = singles[c&127]; l.tok.kind == tEOF {
		l.tok.kind = tBad
	}
	l.pos++
}

// greater reads the current ">" as the operator that it begins.
func (l *lexer) greater() {
	if l.tok.kind != tGt {
		return
	}
	i := l.tok.start + 1
	for i < len(l.src) && i < l.tok.start+3 && l.src[i] == '>' {
		i++
	}
	l.tok.kind = [...]kind{tGt, tShr, tUshr}[i-l.tok.start-1]
	if l.at(i) == '=' {
		i++
		l.tok.kind = map[kind]kind{tGt: tGtEq, tShr: tShrAssign, tUshr: tUshrAssign}[l.tok.kind]
	}
	l.pos, l.tok.end = i, i
}

// less cuts "<<" to its first byte.
func (l *lexer) less() {
	if l.tok.kind == tShl {
		l.tok.kind = tLt
		l.pos = l.tok.start + 1
		l.tok.end = l.pos
	}
}
