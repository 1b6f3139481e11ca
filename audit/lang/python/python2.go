package python

// showsPython2 reports whether the present token, which fits no rule, is the syntax of
// Python 2: print x, exec x, raise E, x, and parameters that are tuples. The scanner
// finds backticks, <>, 0777, 10L and ur"".
func (p *parser) showsPython2() bool {
	if p.i == 0 {
		return false
	}
	first := p.from
	switch p.k {
	case kName, kString, kNumber, kFStart, kNone, kTrue, kFalse, kLambda, kLBrace, kNot:
		return p.i-1 == first && (p.isWord(first, "print") || p.isWord(first, "exec"))
	case kComma:
		return p.toks[first].kind == kRaise
	case kLParen:
		before := p.toks[p.i-1].kind
		return before == kComma && p.toks[first].kind == kDef || before == kLambda ||
			before == kLParen && p.i >= 3 && p.toks[p.i-3].kind == kDef
	}
	return false
}
