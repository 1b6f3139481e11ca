package python

import "github.com/coalmine-dev/coalmine/audit/lang"

// isMatch reports whether the word "match" begins a statement here: the logical line
// ends with a colon, and the first line of its block begins with "case".
func (p *parser) isMatch() bool {
	switch p.toks[p.i+1].kind {
	case kName, kNumber, kString, kFStart, kAwait, kFalse, kLambda, kNone, kNot, kTrue, kLParen,
		kLBracket, kLBrace, kEllipsis, kPlus, kMinus, kTilde, kStar:
	default:
		return false
	}
	i := p.i + 2
	for p.toks[i].kind != kNewline && p.toks[i].kind != kEOF {
		i++
	}
	return p.toks[i-1].kind == kColon && p.toks[i].kind == kNewline && p.toks[i+1].kind == kIndent && p.isWord(i+2, "case")
}

// match parses a match statement.
func (p *parser) match() lang.Stmt {
	start := p.i
	p.next()
	from := p.i
	subject := p.starNamed()
	if p.k == kComma {
		items := []lang.Item{{Value: subject}}
		for p.accept(kComma) && p.k != kColon {
			items = append(items, lang.Item{Value: p.starNamed()})
		}
		subject = lang.Collection{Span: p.span(from), Kind: lang.Tuple, Items: items}
	}
	p.expect(kColon)
	p.expect(kNewline)
	p.expect(kIndent)
	if p.failed {
		return nil
	}
	s := lang.Switch{Subject: subject}
	for p.k != kDedent && p.k != kEOF && !p.old {
		p.from, p.chain = p.i, 0
		depth := p.depth
		c := p.caseClause()
		if p.failed {
			p.depth = depth
			p.recover()
			continue
		}
		s.Cases = append(s.Cases, c)
	}
	p.accept(kDedent)
	s.Span = p.span(start)
	return s
}

func (p *parser) caseClause() lang.Case {
	start := p.i
	var c lang.Case
	if !p.isWord(p.i, "case") {
		p.fail("not the syntax of Python")
		return c
	}
	p.next()
	c.Patterns = p.patterns()
	if p.accept(kIf) {
		c.Guard = p.named()
	}
	c.Body = p.suite()
	c.Span = p.span(start)
	return c
}

// patterns parses what stands behind "case": alternatives are a pattern each.
func (p *parser) patterns() []lang.Expr {
	start := p.i
	x := p.starPattern()
	if p.k == kComma {
		return []lang.Expr{p.sequence(x, start, kColon)}
	}
	if _, star := x.(lang.Spread); star {
		p.fail("a star without a collection")
	}
	if op, ok := x.(lang.Operation); ok {
		switch op.Op {
		case "_":
			return nil
		case "|":
			return op.Operands
		}
	}
	return []lang.Expr{x}
}

// sequence parses the patterns behind the first, up to an end that stays.
func (p *parser) sequence(first lang.Expr, start int, end kind) lang.Expr {
	items := []lang.Item{{Value: first}}
	for p.accept(kComma) && p.k != end && p.k != kIf {
		items = append(items, lang.Item{Value: p.starPattern()})
	}
	return lang.Collection{Span: p.span(start), Kind: lang.List, Items: items}
}

func (p *parser) starPattern() lang.Expr {
	start := p.i
	if p.accept(kStar) {
		x := p.capture()
		return lang.Spread{Span: p.span(start), X: x}
	}
	return p.pattern()
}

// capture parses a name that a pattern binds, or the wildcard.
func (p *parser) capture() lang.Expr {
	start := p.i
	if p.isWord(p.i, "_") && p.k == kName {
		p.next()
		return lang.Operation{Span: p.span(start), Op: "_"}
	}
	x := p.nameExpr()
	return lang.Assign{Span: p.span(start), Targets: []lang.Expr{x}, Op: "="}
}

// pattern parses alternatives, and a name for the whole.
func (p *parser) pattern() lang.Expr {
	p.enter()
	defer p.leave()
	start := p.i
	x := p.closedPattern()
	if p.k == kPipe {
		all := []lang.Expr{x}
		for p.accept(kPipe) {
			all = append(all, p.closedPattern())
		}
		x = lang.Operation{Span: p.span(start), Op: "|", Operands: all}
	}
	if p.accept(kAs) {
		name := p.capture()
		x = lang.Operation{Span: p.span(start), Op: "as", Operands: []lang.Expr{x, name}}
	}
	return x
}

func (p *parser) closedPattern() lang.Expr {
	start := p.i
	switch p.k {
	case kNumber, kMinus, kString, kFStart, kNone, kTrue, kFalse:
		return p.literalPattern()
	case kName:
		return p.namePattern()
	case kLParen, kLBracket:
		end := kRParen
		if p.k == kLBracket {
			end = kRBracket
		}
		p.next()
		if p.accept(end) {
			return lang.Collection{Span: p.span(start), Kind: lang.List}
		}
		x := p.starPattern()
		if _, star := x.(lang.Spread); end == kRParen && p.k != kComma && !star {
			p.expect(end)
			return x
		}
		c, ok := p.sequence(x, start, end).(lang.Collection)
		p.expect(end)
		if ok {
			c.Span = p.span(start)
		}
		return c
	case kLBrace:
		return p.mappingPattern()
	}
	p.fail("not the syntax of Python")
	return nil
}

// literalPattern parses a constant; numbers may be signed and complex.
func (p *parser) literalPattern() lang.Expr {
	switch p.k {
	case kNumber, kMinus:
		return p.binary(precSum)
	case kFStart:
		p.fail("an f-string as a pattern")
	}
	return p.atom()
}

// namePattern parses a capture, the wildcard, a dotted name or a class pattern.
func (p *parser) namePattern() lang.Expr {
	start := p.i
	if k := p.peek(); k != kDot && k != kLParen {
		return p.capture()
	}
	x := p.nameExpr()
	for p.accept(kDot) {
		name := p.name()
		x = lang.Attr{Span: p.span(start), X: x, Name: name}
		p.link()
	}
	if !p.accept(kLParen) {
		return x
	}
	operands := []lang.Expr{x}
	for ok := true; ok && p.k != kRParen; ok = p.accept(kComma) {
		if p.k == kName && p.peek() == kAssign {
			p.next()
			p.next()
		}
		operands = append(operands, p.pattern())
	}
	p.expect(kRParen)
	return lang.Operation{Span: p.span(start), Op: "class pattern", Operands: operands}
}

func (p *parser) mappingPattern() lang.Expr {
	start := p.i
	p.next()
	var items []lang.Item
	for ok := true; ok && p.k != kRBrace; ok = p.accept(kComma) {
		from := p.i
		if p.accept(kPower) {
			x := p.capture()
			items = append(items, lang.Item{Value: lang.Spread{Span: p.span(from), X: x}})
			continue
		}
		var key lang.Expr
		if p.k == kName {
			key = p.nameExpr()
			for p.accept(kDot) {
				name := p.name()
				key = lang.Attr{Span: p.span(from), X: key, Name: name}
				p.link()
			}
		} else {
			key = p.literalPattern()
		}
		p.expect(kColon)
		items = append(items, lang.Item{Key: key, Value: p.pattern()})
	}
	p.expect(kRBrace)
	return lang.Collection{Span: p.span(start), Kind: lang.Dict, Items: items}
}
