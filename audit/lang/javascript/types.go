package javascript

// The types of TypeScript are read and not kept. Inside brackets they are only balanced.

// annotation skips ": T", if it is there.
func (p *parser) annotation() {
	if p.dialect.types && p.tok.kind == tColon {
		p.next()
		p.skipType()
	}
}

// typeParameters skips <T extends U = V> or <T, U>, if they are there.
func (p *parser) typeParameters() {
	if p.dialect.types && (p.tok.kind == tLt || p.tok.kind == tShl) {
		p.less()
		p.skipAngles()
	}
}

// skipAngles skips from "<" to its ">": parameters or arguments.
func (p *parser) skipAngles() {
	p.enter()
	defer p.leave()
	p.expect(tLt)
	for p.tok.kind != tGt && p.tok.kind != tEOF {
		for p.tok.kind == tConst || p.tok.kind == tIn || p.is("out") {
			if t, _ := p.peek(); !t.kind.isName() || t.kind == tExtends {
				break
			}
			p.next()
		}
		p.skipType()
		if p.eat(tExtends) {
			p.skipType()
		}
		if p.eat(tAssign) {
			p.skipType()
		}
		if !p.eat(tComma) {
			break
		}
	}
	p.expect(tGt)
}

// skipTypes skips T, U.
func (p *parser) skipTypes() {
	p.skipType()
	for p.eat(tComma) {
		p.skipType()
	}
}

// skipType skips a type, with the condition that may follow it.
func (p *parser) skipType() {
	p.enter()
	defer p.leave()
	p.skipUnion(true)
	for p.tok.kind == tExtends && !p.tok.newline {
		saved := p.state
		p.next()
		p.skipUnion(false)
		if !p.eat(tQuestion) {
			p.state = saved // the bound of a type's parameter
			return
		}
		p.skipType()
		p.expect(tColon)
		p.skipUnion(true)
	}
}

// skipUnion skips a type up to an "extends". In the bound of a condition, "infer T"
// takes the "extends" that follows it.
func (p *parser) skipUnion(free bool) {
	p.enter()
	defer p.leave()
	if p.tok.kind == tBitOr || p.tok.kind == tBitAnd {
		p.next()
	}
	for {
		p.skipOperand(free)
		if p.is("is") && !p.tok.newline {
			p.next()
			p.skipType()
		}
		if p.tok.kind != tBitOr && p.tok.kind != tBitAnd {
			return
		}
		p.next()
	}
}

// skipOperand skips a type without binary operators.
func (p *parser) skipOperand(free bool) {
	p.eat(tQuestion) // ?T of Flow
	p.skipPrefixes(free)
	switch k := p.tok.kind; {
	case k == tNew || p.is("abstract"):
		p.eatWord("abstract")
		p.eat(tNew)
		p.skipOperand(free)
		return
	case k == tLParen:
		function := p.functionType()
		p.skipBrackets()
		if function {
			p.expect(tArrow)
			p.skipType()
			return
		}
	case k == tLt || k == tShl:
		p.less()
		p.skipAngles()
		p.skipBrackets()
		p.expect(tArrow)
		p.skipType()
		return
	case k == tLBrace || k == tLBracket:
		p.skipBrackets()
	case k == tMinus:
		p.next()
		p.expect(tNumber)
	case k == tString || k == tNumber || k == tStar: // "*" is any type of Flow
		p.next()
	case k == tTemplate || k == tHead:
		p.skipTemplate()
	case k == tTypeof:
		p.next()
		if p.eat(tImport) {
			p.skipBrackets()
		} else if p.tok.kind.isName() {
			p.next()
		}
		p.skipReference()
	case k == tImport:
		p.next()
		p.skipBrackets()
		p.skipReference()
	case k == tIdent || k == tThis || k == tVoid || k == tNull || k == tTrue || k == tFalse || k == tConst:
		p.next()
		p.skipReference()
	default:
		p.unexpected()
	}
	p.skipSuffixes()
}

// functionType tells whether a "(" begins the parameters of a function's type, and no
// type in parentheses.
func (p *parser) functionType() bool {
	saved := p.state
	defer func() { p.state = saved }()
	p.next()
	switch k := p.tok.kind; {
	case k == tRParen || k == tEllipsis:
		return true
	case k == tLBrace || k == tLBracket:
		p.skipBrackets()
	case k.isName():
		p.next()
	default:
		return false
	}
	switch p.tok.kind {
	case tColon, tComma, tQuestion, tAssign:
		return true
	case tRParen:
		p.next()
		return p.tok.kind == tArrow
	}
	return false
}

// skipPrefixes skips the operators before a type.
func (p *parser) skipPrefixes(free bool) {
	for p.tok.kind == tIdent {
		switch p.text() {
		case "keyof", "unique", "readonly", "asserts", "infer":
		default:
			return
		}
		t, text := p.peek()
		if t.newline || !beginsType(t.kind) || text == "is" || t.kind == tLt {
			return
		}
		infer := p.is("infer")
		p.next()
		if !infer {
			continue
		}
		if t, _ = p.peek(); t.kind == tExtends && !free {
			p.next()
			p.next()
			p.skipPrefixes(free)
		}
	}
}

// beginsType tells whether a type may begin with a token.
func beginsType(k kind) bool {
	switch k {
	case tIdent, tThis, tTypeof, tLParen, tLBrace, tLBracket, tString, tNumber, tTemplate, tHead, tImport, tNew, tLt, tNull, tVoid, tTrue, tFalse:
		return true
	}
	return false
}

// skipReference skips .x.y<T> behind a name.
func (p *parser) skipReference() {
	for p.tok.kind == tDot {
		p.next()
		if !p.tok.kind.isName() && p.tok.kind != tPrivate {
			p.unexpected()
			return
		}
		p.next()
	}
	if (p.tok.kind == tLt || p.tok.kind == tShl) && !p.tok.newline {
		p.less()
		p.skipAngles()
		if p.tok.kind == tDot {
			p.skipReference()
		}
	}
}

// skipSuffixes skips [] and [K].
func (p *parser) skipSuffixes() {
	for p.tok.kind == tLBracket && !p.tok.newline {
		p.skipBrackets()
	}
}

// skipTemplate skips a template and the types in it.
func (p *parser) skipTemplate() {
	if p.eat(tTemplate) {
		return
	}
	for p.tok.kind == tHead || p.tok.kind == tMiddle {
		p.next()
		p.skipType()
		if p.eat(tExtends) { // of "infer T extends U"
			p.skipType()
		}
		if p.tok.kind != tRBrace {
			p.unexpected()
			return
		}
		p.continueTemplate()
	}
	p.expect(tTail)
}

// skipBrackets skips from a bracket to the one that closes it. It fails at a token that
// no type has.
func (p *parser) skipBrackets() {
	var open []kind
	for {
		switch k := p.tok.kind; k {
		case tLParen, tLBracket, tLBrace:
			open = append(open, k)
		case tRParen, tRBracket, tRBrace:
			if len(open) == 0 || open[len(open)-1] != k-1 {
				p.unexpected()
				return
			}
			open = pop(open)
		case tHead:
			p.skipTemplate()
			continue
		default:
			if !inType(k) || len(open) == 0 {
				p.unexpected()
				return
			}
		}
		p.next()
		if len(open) == 0 {
			return
		}
	}
}

// inType tells whether a token may be in a type.
func inType(k kind) bool {
	switch k {
	case tEOF, tBad, tAt, tTilde, tBang, tInc, tDec, tOr, tNullish, tAnd, tXor, tEq, tNotEq, tEqEq, tNotEqEq, tLtEq, tGtEq, tShr, tUshr, tStar, tSlash, tPercent, tPower,
		tTail, tMiddle, tRegexp:
		return false
	}
	return k <= tAssign || k >= tIdent
}
