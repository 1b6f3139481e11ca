package javascript

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// tail is what may follow an operand.
type tail uint8

const (
	// members are .x, [x] and templates.
	members tail = iota
	// calls are these and (x).
	calls
	// decorator is calls without [x], which is the key of a method behind a decorator.
	decorator
)

// lhs reads a LeftHandSideExpression of the specification.
func (p *parser) lhs(may tail) lang.Expr {
	from := p.start()
	outer := p.peak
	p.peak = p.depth
	p.enter()
	var x lang.Expr
	if p.tok.kind == tNew {
		x = p.newExpression()
	} else {
		x = p.primary()
	}
	for !p.afterArrow() {
		next, more := p.member(from, x, may)
		if !more {
			break
		}
		x = next
		p.link()
	}
	p.leave()
	p.peak = max(p.peak, outer)
	return x
}

// member reads one thing that follows an operand, and reports whether there was one.
func (p *parser) member(from lang.Pos, x lang.Expr, may tail) (lang.Expr, bool) {
	switch p.tok.kind {
	case tDot:
		p.next()
		return p.property(from, x), true
	case tQuestionDot:
		p.next()
		if p.dialect.types && (p.tok.kind == tLt || p.tok.kind == tShl) {
			p.less()
			p.skipAngles()
		}
		switch p.tok.kind {
		case tLParen:
			return p.call(from, x), true
		case tLBracket:
			return p.index(from, x), true
		case tTemplate, tHead:
			return p.tagged(from, x), true
		}
		return p.property(from, x), true
	case tLBracket:
		if may == decorator {
			return x, false
		}
		return p.index(from, x), true
	case tLParen:
		if may == members {
			return x, false
		}
		return p.call(from, x), true
	case tTemplate, tHead:
		return p.tagged(from, x), true
	case tBang:
		if p.dialect.types && !p.tok.newline {
			p.next()
			return x, true
		}
	case tLt, tShl:
		if p.dialect.types && p.guess(p.typeArguments) {
			return x, true
		}
	}
	return x, false
}

// typeArguments reads <T, U> behind an expression, and tells whether they can be that by
// what follows them: TypeScript's canFollowTypeArgumentsInExpression.
func (p *parser) typeArguments() bool {
	p.less()
	p.skipAngles()
	switch p.tok.kind {
	case tLParen, tTemplate, tHead:
		return true
	case tLt, tGt, tPlus, tMinus:
		return false
	}
	return p.tok.newline || precedence[p.tok.kind] > 0 || p.is("as") || p.is("satisfies") || !p.beginsExpression()
}

func (p *parser) property(from lang.Pos, x lang.Expr) lang.Expr {
	if !p.tok.kind.isName() && p.tok.kind != tPrivate {
		p.unexpected()
		return lang.Attr{Span: p.span(from), X: x}
	}
	name := p.name()
	p.next()
	return lang.Attr{Span: p.span(from), X: x, Name: name}
}

func (p *parser) index(from lang.Pos, x lang.Expr) lang.Expr {
	saved := p.inside()
	p.next()
	key := p.expression()
	p.context = saved
	p.expect(tRBracket)
	return lang.Index{Span: p.span(from), X: x, Keys: []lang.Expr{key}}
}

func (p *parser) call(from lang.Pos, f lang.Expr) lang.Expr {
	args := p.arguments()
	return lang.Call{Span: p.span(from), Func: f, Args: args}
}

func (p *parser) tagged(from lang.Pos, tag lang.Expr) lang.Expr {
	text := p.template()
	return lang.Call{Span: p.span(from), Func: tag, Args: []lang.Arg{{Value: text}}}
}

// arguments reads those of a call, with their parentheses.
func (p *parser) arguments() []lang.Arg {
	saved := p.inside()
	base := len(p.args)
	p.next()
	for p.tok.kind != tRParen && p.tok.kind != tEOF {
		p.args = append(p.args, lang.Arg{Value: p.element()})
		if !p.eat(tComma) {
			break
		}
	}
	p.context = saved
	p.expect(tRParen)
	args := slices.Clone(p.args[base:])
	p.args = p.args[:base]
	return args
}

// element reads an expression that may be spread.
func (p *parser) element() lang.Expr {
	from := p.start()
	if !p.eat(tEllipsis) {
		return p.assignment()
	}
	x := p.assignment()
	return lang.Spread{Span: p.span(from), X: x}
}

// newExpression reads new X, new X(…) and new.target.
func (p *parser) newExpression() lang.Expr {
	p.enter()
	defer p.leave()
	from := p.start()
	p.next()
	if p.tok.kind == tDot {
		return lang.Name{Span: p.span(from), ID: "new"}
	}
	class := p.lhs(members)
	if p.dialect.types && p.tok.kind == tLt {
		p.guess(func() bool { p.skipAngles(); return true })
	}
	var args []lang.Arg
	if p.tok.kind == tLParen {
		args = p.arguments()
	}
	return lang.Call{Span: p.span(from), Func: class, Args: args, New: true}
}
