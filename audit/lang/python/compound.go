package python

import "github.com/coalmine-dev/coalmine/audit/lang"

// The parsers of compound statements return nil where the header fails. Where a later
// clause fails, they return what stands before it.

// ifStmt parses if with its elif and else.
func (p *parser) ifStmt() lang.Stmt {
	type branch struct {
		start int
		test  lang.Expr
		body  []lang.Stmt
	}
	var branches []branch
	for p.k == kIf || p.k == kElif && len(branches) > 0 {
		p.from = p.i
		b := branch{start: p.i}
		if p.next(); len(branches) == maxBranches {
			p.fail(tooDeep)
		}
		b.test = p.named()
		b.body = p.suite()
		if p.failed {
			break
		}
		branches = append(branches, b)
		if p.k != kElif {
			break
		}
	}
	if len(branches) == 0 {
		return nil
	}
	orelse := p.orElse()
	for i := len(branches) - 1; ; i-- {
		b := branches[i]
		s := lang.If{Span: p.span(b.start), Test: b.test, Then: b.body, Else: orelse}
		if i == 0 {
			return s
		}
		orelse = []lang.Stmt{s}
	}
}

// orElse parses an else clause if there is one.
func (p *parser) orElse() []lang.Stmt {
	if p.k != kElse {
		return nil
	}
	p.from = p.i
	p.next()
	return p.suite()
}

// loop parses for and while; an "async" stands at start.
func (p *parser) loop(start int) lang.Stmt {
	var l lang.Loop
	if p.accept(kWhile) {
		l.Test = p.named()
	} else {
		p.next()
		l.Target = p.targets()
		p.expect(kIn)
		l.Iter = p.starExpressions()
	}
	l.Body = p.suite()
	if p.failed {
		return nil
	}
	l.Else = p.orElse()
	l.Span = p.span(start)
	return l
}

// try parses try with its handlers.
func (p *parser) try() lang.Stmt {
	start := p.i
	p.next()
	body := p.suite()
	if p.failed {
		return nil
	}
	t := lang.Try{Body: body}
	for p.k == kExcept {
		p.from = p.i
		h := p.handler()
		if p.failed {
			break
		}
		t.Handlers = append(t.Handlers, h)
	}
	t.Else = p.orElse()
	final := p.k == kFinally
	if final {
		p.from = p.i
		p.next()
		t.Finally = p.suite()
	}
	t.Span = p.span(start)
	if !p.failed && !final && len(t.Handlers) == 0 {
		p.note(start, start, "a try without an except")
	}
	return t
}

// handler parses an except clause. "except A, B:" is allowed since Python 3.14.
func (p *parser) handler() lang.Handler {
	var h lang.Handler
	p.next()
	star := p.accept(kStar)
	if p.k != kColon || star {
		start := p.i
		h.Type = p.expression()
		if p.k == kComma {
			items := []lang.Item{{Value: h.Type}}
			for p.accept(kComma) && p.k != kColon {
				items = append(items, lang.Item{Value: p.expression()})
			}
			h.Type = lang.Collection{Span: p.span(start), Kind: lang.Tuple, Items: items}
			if p.bindsAsPython2(start, items) {
				p.note(p.from, p.last, python2)
			}
		} else if p.accept(kAs) {
			h.Name = p.nameExpr()
		}
	}
	h.Body = p.suite()
	return h
}

// with parses a with statement; an "async" stands at start. Parentheses around all of
// its items belong to the statement, unless only an expression may hold what is in them.
func (p *parser) with(start int) lang.Stmt {
	p.next()
	w := lang.With{}
	if p.k == kLParen {
		w.Items = p.withGroup()
	}
	if w.Items == nil {
		for ok := true; ok; ok = p.accept(kComma) {
			w.Items = append(w.Items, p.withItem())
		}
	}
	w.Body = p.suite()
	if p.failed {
		return nil
	}
	w.Span = p.span(start)
	return w
}

// withGroup parses items in parentheses, or moves nowhere and returns nil.
func (p *parser) withGroup() []lang.Expr {
	i, last, depth, old := p.i, p.last, p.depth, p.old
	var items []lang.Expr
	p.next()
	for ok := true; ok; ok = p.accept(kComma) && p.k != kRParen {
		items = append(items, p.withItem())
	}
	if p.accept(kRParen) && p.k == kColon {
		return items
	}
	p.failed, p.i, p.k, p.last, p.depth, p.old = false, i, kLParen, last, depth, old
	return nil
}

func (p *parser) withItem() lang.Expr {
	start := p.i
	x := p.expression()
	if !p.accept(kAs) {
		return x
	}
	target := p.element(true)
	p.target(target, false)
	return lang.Assign{Span: p.span(start), Targets: []lang.Expr{target}, Op: "=", Value: x}
}

// async parses what follows async.
func (p *parser) async() lang.Stmt {
	start := p.i
	p.next()
	switch p.k {
	case kDef:
		return p.function(start, nil)
	case kFor:
		return p.loop(start)
	case kWith:
		return p.with(start)
	}
	p.fail("not the syntax of Python")
	return nil
}

// definition parses a function or a class with its decorators.
func (p *parser) definition() lang.Stmt {
	var decorators []lang.Expr
	for p.accept(kAt) {
		decorators = append(decorators, p.named())
		p.expect(kNewline)
	}
	start := p.i
	switch {
	case p.k == kDef:
		return p.function(start, decorators)
	case p.k == kAsync && p.peek() == kDef:
		p.next()
		return p.function(start, decorators)
	case p.k == kClass:
		return p.class(decorators)
	}
	p.fail("not the syntax of Python")
	return nil
}

func (p *parser) function(start int, decorators []lang.Expr) lang.Stmt {
	f := &lang.Function{Decorators: decorators, Async: p.toks[start].kind == kAsync}
	p.from = p.i
	p.next()
	f.Name = p.name()
	f.TypeParams = p.typeParams()
	p.expect(kLParen)
	f.Params = p.params(kRParen)
	p.expect(kRParen)
	if p.accept(kArrow) {
		f.Returns = p.expression()
	}
	f.Body = p.suite()
	if p.failed {
		return nil
	}
	f.Doc = doc(f.Body)
	f.Span = p.span(start)
	return f
}

func (p *parser) class(decorators []lang.Expr) lang.Stmt {
	start := p.i
	p.from = p.i
	p.next()
	c := &lang.Class{Decorators: decorators, Name: p.name()}
	c.TypeParams = p.typeParams()
	if p.accept(kLParen) {
		c.Bases = p.args()
	}
	c.Body = p.suite()
	if p.failed {
		return nil
	}
	c.Doc = doc(c.Body)
	c.Span = p.span(start)
	return c
}

// doc returns the docstring of a body.
func doc(body []lang.Stmt) string {
	if len(body) == 0 {
		return ""
	}
	if s, ok := body[0].(lang.ExprStmt); ok {
		if c, ok := s.X.(lang.Const); ok && c.Kind == lang.String {
			return c.Text
		}
	}
	return ""
}

// params parses parameters up to the kind that ends them, which stays. Those of a
// lambda, which end at a colon, have no annotations.
func (p *parser) params(end kind) []lang.Param {
	var out []lang.Param
	defaults, star := false, false
	for p.k != end && !p.failed {
		start := p.i
		var param lang.Param
		switch p.k {
		case kSlash:
			p.next()
			if len(out) == 0 {
				p.fail("not the syntax of Python")
			}
			if !p.accept(kComma) && p.k != end {
				p.fail("not the syntax of Python")
			}
			continue
		case kStar, kPower:
			param.Rest, star = true, true
			p.next()
			if p.toks[start].kind == kStar && p.accept(kComma) {
				continue
			}
		}
		param.Name = p.name()
		if end == kRParen && p.accept(kColon) {
			param.Annotation = p.element(false)
		}
		if p.k == kAssign && !param.Rest {
			p.next()
			param.Default, defaults = p.expression(), true
		} else if defaults && !star {
			p.fail("a parameter without a default behind one with")
		}
		param.Span = p.span(start)
		out = append(out, param)
		if !p.accept(kComma) && p.k != end {
			p.fail("not the syntax of Python")
		}
	}
	return out
}

// typeParams parses type parameters in brackets, if there are any.
func (p *parser) typeParams() []lang.Param {
	if !p.accept(kLBracket) {
		return nil
	}
	var out []lang.Param
	for ok := true; ok && p.k != kRBracket; ok = p.accept(kComma) {
		start := p.i
		var t lang.Param
		t.Rest = p.accept(kStar) || p.accept(kPower)
		t.Name = p.name()
		if p.accept(kColon) {
			t.Annotation = p.expression()
		}
		if p.accept(kAssign) {
			t.Default = p.element(false)
		}
		t.Span = p.span(start)
		out = append(out, t)
	}
	p.expect(kRBracket)
	return out
}
