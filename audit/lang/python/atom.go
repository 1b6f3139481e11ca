package python

import (
	"unicode"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// atom parses a name, a literal, or what stands in brackets.
func (p *parser) atom() lang.Expr {
	start := p.i
	switch p.k {
	case kName:
		return p.nameExpr()
	case kNumber:
		p.next()
		return lang.Const{Span: p.span(start), Kind: lang.Number, Text: p.word(start)}
	case kString, kFStart:
		return p.strings()
	case kNone:
		p.next()
		return lang.Const{Span: p.span(start), Kind: lang.Null}
	case kTrue, kFalse:
		p.next()
		text := "true"
		if p.toks[start].kind == kFalse {
			text = "false"
		}
		return lang.Const{Span: p.span(start), Kind: lang.Bool, Text: text}
	case kEllipsis:
		p.next()
		return lang.Name{Span: p.span(start), ID: "Ellipsis"}
	case kLParen:
		p.enter()
		defer p.leave()
		return p.group()
	case kLBracket:
		p.enter()
		defer p.leave()
		return p.list()
	case kLBrace:
		p.enter()
		defer p.leave()
		return p.braces()
	}
	p.fail("not the syntax of Python")
	return nil
}

// group parses a tuple, a generator or an expression in parentheses.
func (p *parser) group() lang.Expr {
	start := p.i
	p.next()
	if p.accept(kRParen) {
		return lang.Collection{Span: p.span(start), Kind: lang.Tuple}
	}
	if p.k == kYield {
		x := p.yield()
		p.expect(kRParen)
		return x
	}
	x := p.starNamed()
	switch p.k {
	case kFor, kAsync:
		x = p.comprehension("generator", x, start)
		p.expect(kRParen)
		return p.widen(x, start)
	case kComma:
		items := p.elements(x, kRParen)
		p.expect(kRParen)
		return lang.Collection{Span: p.span(start), Kind: lang.Tuple, Items: items}
	}
	if _, star := x.(lang.Spread); star {
		p.fail("a star without a collection")
	}
	p.expect(kRParen)
	return x
}

// widen gives a comprehension the span of its brackets.
func (p *parser) widen(x lang.Expr, start int) lang.Expr {
	if op, ok := x.(lang.Operation); ok {
		op.Span = p.span(start)
		return op
	}
	return x
}

// elements parses the elements behind the first, up to the kind that ends them.
func (p *parser) elements(first lang.Expr, end kind) []lang.Item {
	items := make([]lang.Item, 1, 4)
	items[0].Value = first
	for p.accept(kComma) && p.k != end {
		items = append(items, lang.Item{Value: p.starNamed()})
	}
	return items
}

func (p *parser) list() lang.Expr {
	start := p.i
	p.next()
	if p.accept(kRBracket) {
		return lang.Collection{Span: p.span(start), Kind: lang.List}
	}
	x := p.starNamed()
	if p.k == kFor || p.k == kAsync {
		x = p.comprehension("comprehension", x, start)
		p.expect(kRBracket)
		return p.widen(x, start)
	}
	items := p.elements(x, kRBracket)
	p.expect(kRBracket)
	return lang.Collection{Span: p.span(start), Kind: lang.List, Items: items}
}

// braces parses a dict or a set.
func (p *parser) braces() lang.Expr {
	start := p.i
	p.next()
	if p.accept(kRBrace) {
		return lang.Collection{Span: p.span(start), Kind: lang.Dict}
	}
	first, dict := p.item()
	if p.k == kFor || p.k == kAsync {
		x := first.Value
		if dict {
			x = lang.Collection{Span: p.span(start + 1), Kind: lang.Dict, Items: []lang.Item{first}}
		}
		x = p.comprehension("comprehension", x, start)
		p.expect(kRBrace)
		return p.widen(x, start)
	}
	kind := lang.Set
	if dict {
		kind = lang.Dict
	}
	items := append(make([]lang.Item, 0, 4), first)
	for p.accept(kComma) && p.k != kRBrace {
		it, keyed := p.item()
		if keyed != dict {
			p.fail("not the syntax of Python")
		}
		items = append(items, it)
	}
	p.expect(kRBrace)
	return lang.Collection{Span: p.span(start), Kind: kind, Items: items}
}

// item parses an element in braces, and reports whether it belongs to a dict.
func (p *parser) item() (lang.Item, bool) {
	start := p.i
	if p.accept(kPower) {
		x := p.binary(precPipe)
		return lang.Item{Value: lang.Spread{Span: p.span(start), X: x}}, true
	}
	x := p.starNamed()
	if !p.accept(kColon) {
		return lang.Item{Value: x}, false
	}
	return lang.Item{Key: x, Value: p.expression()}, true
}

// comprehension parses the clauses behind an element of a comprehension or a generator.
func (p *parser) comprehension(op string, element lang.Expr, start int) lang.Expr {
	operands := []lang.Expr{element}
	for p.k == kFor || p.k == kAsync {
		from := p.i
		p.accept(kAsync)
		p.expect(kFor)
		target := p.targets()
		p.expect(kIn)
		clause := []lang.Expr{target, p.binary(precOr)}
		for p.accept(kIf) {
			clause = append(clause, p.binary(precOr))
		}
		operands = append(operands, lang.Operation{Span: p.span(from), Op: "for", Operands: clause})
	}
	return lang.Operation{Span: p.span(start), Op: op, Operands: operands}
}

// identifier reports whether a name beyond ASCII is one.
func identifier(name string) bool {
	for i, r := range name {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Other_ID_Start, r):
		case i > 0 && (unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || unicode.Is(unicode.Other_ID_Continue, r)):
		default:
			return false
		}
	}
	return true
}
