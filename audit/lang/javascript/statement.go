package javascript

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// list is where a list of statements stands.
type list uint8

const (
	inModule list = iota
	inBlock
	inCase
)

// statements reads up to the end of a list.
func (p *parser) statements(in list) []lang.Stmt {
	base := len(p.stmts)
	for p.tok.kind != tEOF {
		if p.tok.kind == tRBrace && in != inModule || in == inCase && (p.tok.kind == tCase || p.tok.kind == tDefault) {
			break
		}
		from := p.tok
		p.statement()
		if p.failed && p.guessing == 0 {
			p.recover(in, from)
		}
	}
	out := slices.Clone(p.stmts[base:])
	p.stmts = p.stmts[:base]
	return out
}

func (p *parser) add(s lang.Stmt) { p.stmts = append(p.stmts, s) }

// one reads a statement as the body of another. Several come of "var a, b".
func (p *parser) one() []lang.Stmt {
	if p.tok.kind == tLBrace {
		return p.block()
	}
	base := len(p.stmts)
	p.statement()
	out := slices.Clone(p.stmts[base:])
	p.stmts = p.stmts[:base]
	return out
}

// block reads statements in braces.
func (p *parser) block() []lang.Stmt {
	saved := p.inside()
	p.expect(tLBrace)
	body := p.statements(inBlock)
	p.context = saved
	p.expect(tRBrace)
	return body
}

// statement reads one statement and adds what comes of it.
func (p *parser) statement() {
	outer := p.peak
	p.peak = p.depth
	p.enter()
	p.statementHere(p.start())
	p.leave()
	p.peak = max(p.peak, outer)
}

func (p *parser) statementHere(from lang.Pos) {
	switch p.tok.kind {
	case tLBrace:
		body := p.block()
		p.add(lang.Block{Span: p.span(from), Body: body})
	case tSemi:
		p.next()
	case tConst:
		if t, _ := p.peek(); t.kind == tEnum {
			p.next()
			p.enum()
			return
		}
		p.variables("const")
	case tVar:
		p.variables("var")
	case tFunction:
		p.next()
		p.functionStatement(from, false)
	case tClass:
		p.classStatement(nil)
	case tAt:
		p.decorated()
	case tEnum:
		p.enum()
	case tImport:
		if t, _ := p.peek(); t.kind == tLParen || t.kind == tDot {
			p.expressionStatement()
			return
		}
		p.importStatement()
	case tExport:
		p.exportStatement()
	case tIdent:
		if !p.contextual() {
			p.expressionStatement()
		}
	default:
		p.control(from)
	}
}

// control reads the statements that lead the flow.
func (p *parser) control(from lang.Pos) {
	switch p.tok.kind {
	case tIf:
		p.ifStatement()
	case tFor:
		p.forStatement()
	case tWhile:
		p.next()
		test := p.condition()
		body := p.one()
		p.add(lang.Loop{Span: p.span(from), Test: test, Body: body})
	case tDo:
		p.next()
		body := p.one()
		p.expect(tWhile)
		test := p.condition()
		p.eat(tSemi)
		p.add(lang.Loop{Span: p.span(from), Test: test, Body: body})
	case tReturn, tThrow:
		op := p.text()
		p.next()
		var x lang.Expr
		if p.tok.kind != tSemi && p.tok.kind != tRBrace && p.tok.kind != tEOF && !p.tok.newline {
			x = p.expression()
		}
		p.semicolon()
		p.add(lang.Return{Span: p.span(from), Op: op, X: x})
	case tBreak, tContinue:
		op := p.text()
		p.next()
		if p.tok.kind == tIdent && !p.tok.newline {
			p.next()
		}
		p.semicolon()
		p.add(lang.Jump{Span: p.span(from), Op: op})
	case tSwitch:
		p.switchStatement()
	case tTry:
		p.tryStatement()
	case tWith:
		p.next()
		object := p.condition()
		body := p.one()
		p.add(lang.With{Span: p.span(from), Items: []lang.Expr{object}, Body: body})
	case tDebugger:
		p.next()
		p.semicolon()
	default:
		p.expressionStatement()
	}
}

// contextual reads a statement that begins with a word that is not reserved. It
// reports false where the word is an ordinary name.
func (p *parser) contextual() bool {
	switch word := p.text(); word {
	case "let":
		if t, _ := p.peek(); t.kind == tIdent || t.kind == tLBracket || t.kind == tLBrace {
			p.variables("let")
			return true
		}
	case "using":
		if t, text := p.peek(); t.kind == tIdent && !t.newline && text != "of" {
			p.variables("using")
			return true
		}
	case "await":
		return p.awaitUsing()
	case "async":
		if t, _ := p.peek(); t.kind == tFunction && !t.newline {
			from := p.start()
			p.next()
			p.next()
			p.functionStatement(from, true)
			return true
		}
	case "abstract", "type", "interface", "declare", "namespace", "module", "global":
		return p.dialect.types && p.typeStatement(word)
	}
	return false
}

// awaitUsing reads "await using x = …".
func (p *parser) awaitUsing() bool {
	saved := p.state
	p.next()
	if p.is("using") && !p.tok.newline {
		if t, text := p.peek(); t.kind == tIdent && !t.newline && text != "of" && text != "in" {
			p.variables("using")
			return true
		}
	}
	p.state = saved
	return false
}

func (p *parser) expressionStatement() {
	from, word := p.start(), p.tok.kind
	x := p.expression()
	if name, ok := x.(lang.Name); ok && word == tIdent && p.tok.kind == tColon && name.Start == from {
		p.next() // a label
		p.statement()
		return
	}
	p.semicolon()
	if _, ok := x.(lang.Assign); ok {
		p.add(x.(lang.Stmt))
		return
	}
	p.add(lang.ExprStmt{Span: p.span(from), X: x})
}

// variables reads a declaration from its keyword on, and ends the statement.
func (p *parser) variables(keyword string) {
	p.next()
	p.declarators(keyword, p.binding())
	p.semicolon()
}

// declarators reads the rest of a declaration behind its first target.
func (p *parser) declarators(keyword string, target lang.Expr) {
	for {
		from := target.Place().Start
		if p.dialect.types {
			p.eat(tBang)
			p.annotation()
		}
		var value lang.Expr
		if p.eat(tAssign) {
			value = p.assignment()
		}
		p.add(lang.Assign{Span: p.span(from), Targets: []lang.Expr{target}, Op: "=", Value: value, Declares: keyword})
		if !p.eat(tComma) {
			return
		}
		target = p.binding()
	}
}

// binding reads a name or a pattern that is declared.
func (p *parser) binding() lang.Expr {
	p.enter()
	defer p.leave()
	switch p.tok.kind {
	case tLBracket:
		return p.array()
	case tLBrace:
		return p.object()
	}
	return p.ident()
}

// condition reads an expression in parentheses.
func (p *parser) condition() lang.Expr {
	saved := p.inside()
	p.expect(tLParen)
	x := p.expression()
	p.context = saved
	p.expect(tRParen)
	return x
}

func (p *parser) ifStatement() {
	from := p.start()
	p.next()
	test := p.condition()
	then := p.one()
	var other []lang.Stmt
	if p.eat(tElse) {
		other = p.one()
	}
	p.add(lang.If{Span: p.span(from), Test: test, Then: then, Else: other})
}

func (p *parser) switchStatement() {
	from := p.start()
	p.next()
	s := lang.Switch{Subject: p.condition()}
	p.expect(tLBrace)
	for p.tok.kind == tCase || p.tok.kind == tDefault {
		c, at := lang.Case{}, p.start()
		if p.eat(tCase) {
			saved := p.inside()
			p.colon = true
			c.Patterns = []lang.Expr{p.expression()}
			p.context = saved
		} else {
			p.next()
		}
		p.expect(tColon)
		c.Body = p.statements(inCase)
		c.Span = p.span(at)
		s.Cases = append(s.Cases, c)
	}
	p.expect(tRBrace)
	s.Span = p.span(from)
	p.add(s)
}

func (p *parser) tryStatement() {
	from := p.start()
	p.next()
	s := lang.Try{Body: p.block()}
	if at := p.start(); p.eat(tCatch) {
		var h lang.Handler
		if p.eat(tLParen) {
			h.Name = p.binding()
			p.annotation()
			p.expect(tRParen)
		}
		h.Body = p.block()
		h.Span = p.span(at)
		s.Handlers = []lang.Handler{h}
	}
	if p.eat(tFinally) {
		s.Finally = p.block()
	}
	s.Span = p.span(from)
	p.add(s)
}
