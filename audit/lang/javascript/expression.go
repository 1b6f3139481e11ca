package javascript

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// expression reads one, or several with commas.
func (p *parser) expression() lang.Expr {
	from := p.start()
	x := p.assignment()
	if p.tok.kind != tComma {
		return x
	}
	base := len(p.exprs)
	p.exprs = append(p.exprs, x)
	for p.eat(tComma) {
		p.exprs = append(p.exprs, p.assignment())
	}
	return lang.Operation{Span: p.span(from), Op: ",", Operands: p.takeExprs(base)}
}

func (p *parser) takeExprs(base int) []lang.Expr {
	out := slices.Clone(p.exprs[base:])
	p.exprs = p.exprs[:base]
	return out
}

// assignment reads an AssignmentExpression of the specification.
func (p *parser) assignment() lang.Expr {
	p.enter()
	defer p.leave()
	from := p.start()
	if p.generator && p.is("yield") {
		return p.yield(from)
	}
	left := p.conditional(from)
	if !p.tok.kind.isAssign() || p.afterArrow() {
		return left
	}
	op := p.text()
	p.next()
	value := p.assignment()
	if op == "=" {
		if next, ok := value.(lang.Assign); ok && next.Op == "=" {
			next.Targets = slices.Insert(next.Targets, 0, left)
			next.Span = p.span(from)
			return next
		}
	}
	return lang.Assign{Span: p.span(from), Targets: []lang.Expr{left}, Op: op, Value: value}
}

func (p *parser) yield(from lang.Pos) lang.Expr {
	p.next()
	if !p.tok.newline {
		p.eat(tStar)
	}
	o := lang.Operation{Op: "yield"}
	if !p.tok.newline && p.beginsExpression() {
		o.Operands = []lang.Expr{p.assignment()}
	}
	o.Span = p.span(from)
	return o
}

// beginsExpression tells whether an operand may begin at the current token.
func (p *parser) beginsExpression() bool {
	switch k := p.tok.kind; k {
	case tString, tNumber, tTemplate, tHead, tPrivate, tLBrace, tLParen, tLBracket, tAt, tBang, tTilde, tInc, tDec, tPlus, tMinus, tSlash, tSlashAssign, tLt, tShl,
		tClass, tDelete, tFalse, tFunction, tImport, tNew, tNull, tSuper, tThis, tTrue, tTypeof, tVoid:
		return true
	case tIdent:
		return !p.is("of") && !p.is("as") && !p.is("satisfies")
	}
	return false
}

// afterArrow tells whether an arrow function ends before the current token: then no
// operator may follow.
func (p *parser) afterArrow() bool { return p.arrowEnd == p.prev.Offset() }

// conditional reads a ? b : c, or what binds stronger.
func (p *parser) conditional(from lang.Pos) lang.Expr {
	test := p.binary(0)
	if p.tok.kind != tQuestion || p.afterArrow() {
		return test
	}
	if p.dialect.types {
		switch t, _ := p.peek(); t.kind {
		case tColon, tComma, tRParen, tAssign:
			return test // an optional parameter: see parenthesized
		}
	}
	p.next()
	outer := p.context
	p.noIn, p.colon = false, true
	then := p.assignment()
	p.context = outer
	p.expect(tColon)
	other := p.assignment()
	return lang.Operation{Span: p.span(from), Op: "?:", Operands: []lang.Expr{test, then, other}}
}

// binary reads operators that bind stronger than a precedence. Operands of one operator
// in a row are operands of one Operation.
func (p *parser) binary(above uint8) lang.Expr {
	from := p.start()
	outer := p.peak
	p.peak = p.depth
	p.enter()
	left := p.unary()
	for !p.afterArrow() {
		if p.dialect.types && p.tok.kind == tIdent && above < precRelation && !p.tok.newline && (p.is("as") || p.is("satisfies")) {
			p.next()
			p.skipType()
			continue
		}
		p.greater()
		k := p.tok.kind
		prec := precedence[k]
		if prec <= above || k == tIn && p.noIn {
			break
		}
		left = p.operands(from, left, k, prec)
	}
	p.leave()
	p.peak = max(p.peak, outer)
	return left
}

// operands reads the right sides of an operator.
func (p *parser) operands(from lang.Pos, left lang.Expr, k kind, prec uint8) lang.Expr {
	o := lang.Operation{Op: p.text()}
	base := len(p.exprs)
	p.exprs = append(p.exprs, left)
	p.link()
	for p.tok.kind == k {
		p.next()
		if k == tPower {
			p.exprs = append(p.exprs, p.binary(prec-1))
		} else {
			p.exprs = append(p.exprs, p.binary(prec))
		}
		p.greater()
	}
	o.Operands = p.takeExprs(base)
	o.Span = p.span(from)
	return o
}

// unary reads prefix and postfix operators.
func (p *parser) unary() lang.Expr {
	from := p.start()
	switch p.tok.kind {
	case tBang, tTilde, tPlus, tMinus, tTypeof, tVoid, tDelete, tInc, tDec:
		return p.prefix(from, p.text())
	case tIdent:
		if p.awaits() {
			return p.prefix(from, "await")
		}
	case tLt, tShl:
		if p.dialect.types && !p.dialect.jsx {
			return p.angle(from)
		}
	}
	x := p.lhs(calls)
	if (p.tok.kind == tInc || p.tok.kind == tDec) && !p.tok.newline && !p.afterArrow() {
		op := p.text()
		p.next()
		p.link()
		return lang.Operation{Span: p.span(from), Op: op, Operands: []lang.Expr{x}}
	}
	return x
}

func (p *parser) prefix(from lang.Pos, op string) lang.Expr {
	p.enter()
	p.next()
	x := p.unary()
	p.leave()
	return lang.Operation{Span: p.span(from), Op: op, Operands: []lang.Expr{x}}
}

// awaits tells whether the current token is the operator "await". Outside of async
// functions it is one at the top level of modules, and else a name: what follows decides.
func (p *parser) awaits() bool {
	if !p.is("await") {
		return false
	}
	if p.async {
		return true
	}
	saved := p.state
	p.next()
	k := p.tok.kind
	operator := p.beginsExpression() && !p.tok.newline
	if ambiguous := k == tLParen || k == tLBracket || k == tPlus || k == tMinus || k == tSlash || k == tInc || k == tDec || k == tLt || k.isTemplate(); ambiguous {
		operator = operator && !p.function
	}
	p.state = saved
	return operator
}

// angle reads what "<" begins in TypeScript without JSX: a cast or a generic arrow
// function. The cast leaves no trace.
func (p *parser) angle(from lang.Pos) lang.Expr {
	p.enter()
	defer p.leave()
	p.less()
	p.skipAngles()
	if p.tok.kind == tLParen {
		x := p.lhs(calls)
		if f, ok := x.(*lang.Function); ok && p.afterArrow() {
			f.Start = from
		}
		return x
	}
	return p.unary()
}
