package javascript

import (
	"github.com/coalmine-dev/coalmine/audit/lang"
)

// functionStatement reads a declaration behind "function". A TypeScript overload, which
// has no body, leaves nothing.
func (p *parser) functionStatement(from lang.Pos, async bool) string {
	f := p.functionRest(from, async)
	if f.Body == nil {
		return f.Name
	}
	p.add(f)
	return f.Name
}

// functionExpression reads a function behind "function".
func (p *parser) functionExpression(from lang.Pos, async bool) lang.Expr {
	return p.functionRest(from, async)
}

func (p *parser) functionRest(from lang.Pos, async bool) *lang.Function {
	f := &lang.Function{Async: async}
	generator := p.eat(tStar)
	if p.tok.kind == tIdent {
		f.Name = p.ident().ID
	}
	p.signature(f, generator)
	f.Span = p.span(from)
	return f
}

// signature reads the parameters and the body of a function. Without a body, as
// TypeScript has it, Body is nil.
func (p *parser) signature(f *lang.Function, generator bool) {
	outer := p.context
	p.context = context{module: outer.module, async: f.Async, generator: generator, function: true}
	if p.dialect.types && (p.tok.kind == tLt || p.tok.kind == tShl) {
		p.less()
		p.skipAngles()
	}
	f.Params = p.parameters()
	p.annotation()
	switch {
	case p.tok.kind == tLBrace:
		if f.Body = p.block(); f.Body == nil {
			f.Body = []lang.Stmt{}
		}
		p.context = outer
	case p.dialect.types:
		p.context = outer
		p.semicolon()
	default:
		p.unexpected()
	}
	p.context = outer
}

// parameters reads those of a function, with their parentheses.
func (p *parser) parameters() []lang.Param {
	var list []lang.Param
	p.expect(tLParen)
	for p.tok.kind != tRParen && p.tok.kind != tEOF {
		if param, ok := p.parameter(); ok {
			list = append(list, param)
		}
		if !p.eat(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return list
}

// parameter reads one; TypeScript's "this" is none.
func (p *parser) parameter() (param lang.Param, ok bool) {
	from := p.start()
	if p.tok.kind == tAt {
		param.Decorators = p.decorators()
	}
	for p.dialect.types && p.tok.kind == tIdent && isModifier(p.text()) {
		if t, _ := p.peek(); t.kind != tIdent && t.kind != tLBrace && t.kind != tLBracket && t.kind != tEllipsis {
			break
		}
		p.next()
	}
	param.Rest = p.eat(tEllipsis)
	this := p.dialect.types && p.eat(tThis)
	if !this {
		switch target := p.binding().(type) {
		case lang.Name:
			param.Name = target.ID
		default:
			param.Pattern = target
		}
	}
	if p.dialect.types {
		p.eat(tQuestion)
	}
	p.annotation()
	if p.eat(tAssign) {
		param.Default = p.assignment()
	}
	param.Span = p.span(from)
	return param, !this
}

// arrow reads an arrow function from "=>" on.
func (p *parser) arrow(from lang.Pos, list []lang.Param, async bool) lang.Expr {
	f := &lang.Function{Params: list, Async: async}
	outer := p.context
	p.async, p.generator = async, false
	p.function = p.function || async
	p.expect(tArrow)
	if p.tok.kind == tLBrace {
		p.context = context{module: outer.module, async: async, function: true}
		f.Body = p.block()
	} else {
		at := p.start()
		x := p.assignment()
		f.Body = []lang.Stmt{lang.Return{Span: p.span(at), Op: "return", X: x}}
	}
	p.context = outer
	f.Span = p.span(from)
	p.arrowEnd = p.prev.Offset()
	return f
}

// params turns what was read as expressions into parameters; it reports false where one
// can be none.
func params(elements []lang.Expr) ([]lang.Param, bool) {
	list := make([]lang.Param, 0, len(elements))
	for _, x := range elements {
		param := lang.Param{Span: x.Place()}
		if s, ok := x.(lang.Spread); ok {
			param.Rest = true
			x = s.X
		}
		if a, ok := x.(lang.Assign); ok && a.Op == "=" && len(a.Targets) == 1 {
			x = a.Targets[0]
			param.Default = a.Value
		}
		switch t := x.(type) {
		case lang.Name:
			if t.ID == "this" {
				continue
			}
			param.Name = t.ID
		case lang.Const:
			if t.Kind != lang.Null {
				return nil, false
			}
			param.Name = t.Text
		case lang.Collection:
			param.Pattern = x
		default:
			return nil, false
		}
		list = append(list, param)
	}
	return list, true
}
