package javascript

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// forStatement reads for(;;), for(… in …), for(… of …) and for await.
func (p *parser) forStatement() {
	from := p.start()
	p.next()
	p.eatWord("await")
	saved := p.inside()
	p.expect(tLParen)
	loop := p.forHead()
	p.context = saved
	p.expect(tRParen)
	loop.Body = p.one()
	loop.Span = p.span(from)
	p.add(loop)
}

// forHead reads what is in the parentheses of a for.
func (p *parser) forHead() (loop lang.Loop) {
	base := len(p.stmts)
	p.noIn = true
	if keyword := p.forKeyword(); keyword != "" {
		p.next()
		target := p.binding()
		if p.tok.kind == tIn || p.is("of") {
			p.noIn = false
			loop.Target, loop.Iter = target, p.elements()
			return loop
		}
		p.declarators(keyword, target)
	} else if p.tok.kind != tSemi {
		from := p.start()
		x := p.expression()
		if p.tok.kind == tIn || p.is("of") {
			p.noIn = false
			loop.Target, loop.Iter = x, p.elements()
			return loop
		}
		p.add(lang.ExprStmt{Span: p.span(from), X: x})
	}
	loop.Init = slices.Clone(p.stmts[base:])
	p.stmts = p.stmts[:base]
	p.noIn = false
	if p.tok.kind == tIn { // for (var x = 1 in y): ECMA-262, annex B.3.5
		if a, ok := lastAssign(loop.Init); ok {
			loop.Target, loop.Iter = a.Targets[0], p.elements()
			return loop
		}
	}
	p.expect(tSemi)
	if p.tok.kind != tSemi {
		loop.Test = p.expression()
	}
	p.expect(tSemi)
	if p.tok.kind != tRParen {
		at := p.start()
		x := p.expression()
		loop.Step = []lang.Stmt{lang.ExprStmt{Span: p.span(at), X: x}}
	}
	return loop
}

// elements reads what a loop goes over.
func (p *parser) elements() lang.Expr {
	if p.eat(tIn) {
		return p.expression()
	}
	p.next()
	return p.assignment()
}

// forKeyword returns the keyword of a declaration in the head of a for and moves to its
// last word; "" for an expression.
func (p *parser) forKeyword() string {
	switch {
	case p.tok.kind == tVar:
		return "var"
	case p.tok.kind == tConst:
		return "const"
	case p.is("let"):
		if t, _ := p.peek(); t.kind == tIdent || t.kind == tLBracket || t.kind == tLBrace {
			return "let"
		}
	case p.is("using"):
		if t, text := p.peek(); t.kind == tIdent && !t.newline && text != "of" {
			return "using"
		}
	case p.is("await"):
		if t, text := p.peek(); t.kind == tIdent && text == "using" {
			p.next()
			return "using"
		}
	}
	return ""
}

func lastAssign(s []lang.Stmt) (lang.Assign, bool) {
	if len(s) == 0 {
		return lang.Assign{}, false
	}
	a, ok := s[len(s)-1].(lang.Assign)
	return a, ok
}
