package javascript

import (
	"html"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// jsx reads an element, or in TypeScript a generic arrow function, which begins with
// <T,> or <T extends there.
func (p *parser) jsx(from lang.Pos) lang.Expr {
	if p.dialect.types && p.genericArrow() {
		p.skipAngles()
		if p.tok.kind != tLParen {
			return p.missing()
		}
		return p.parenthesized(from, arrowOrGroup)
	}
	saved := p.inside()
	x := p.jsxElement()
	p.context = saved
	p.expect(tGt)
	return x
}

func (p *parser) genericArrow() bool {
	saved := p.state
	defer func() { p.state = saved }()
	p.next()
	if p.tok.kind == tConst {
		return true
	}
	if p.tok.kind != tIdent {
		return false
	}
	p.next()
	if p.tok.kind == tComma {
		return true
	}
	if !p.eat(tExtends) {
		return false
	}
	return p.tok.kind != tAssign && p.tok.kind != tGt && p.tok.kind != tSlash
}

// jsxElement reads an element from its "<" to its last ">", which stays the current
// token: text may follow that.
func (p *parser) jsxElement() lang.Expr {
	p.enter()
	defer p.leave()
	from := p.start()
	p.next()
	if p.tok.kind == tGt {
		items := p.jsxItems()
		return lang.Collection{Kind: lang.List, Items: items, Span: lang.Span{Start: from, End: p.behind()}}
	}
	call := lang.Call{Func: p.jsxName()}
	p.typeParameters()
	call.Args = p.jsxAttributes()
	if p.eat(tSlash) {
		if p.tok.kind != tGt {
			p.unexpected()
		}
	} else if p.tok.kind == tGt {
		for _, item := range p.jsxItems() {
			call.Args = append(call.Args, lang.Arg{Value: item.Value})
		}
	} else {
		p.unexpected()
	}
	call.Span = lang.Span{Start: from, End: p.behind()}
	return call
}

// jsxWord reads a name that may hold "-".
func (p *parser) jsxWord() string {
	if !p.tok.kind.isName() {
		p.unexpected()
		return ""
	}
	for l := &p.lexer; l.pos < len(l.src); l.pos++ {
		if c := l.src[l.pos]; c != '-' && classes[c]&identPart == 0 {
			break
		}
	}
	p.tok.end = p.pos
	return p.name()
}

// jsxName reads the name of an element: one with a capital or a dot is a component.
func (p *parser) jsxName() lang.Expr {
	from := p.start()
	this := p.tok.kind == tThis
	id := p.jsxWord()
	p.next()
	if p.eat(tColon) {
		id += ":" + p.jsxWord()
		p.next()
	}
	if p.tok.kind != tDot && !this && id != "" && (id[0] >= 'a' && id[0] <= 'z' || strings.ContainsAny(id, "-:")) {
		return lang.Const{Span: p.span(from), Kind: lang.String, Text: id}
	}
	var x lang.Expr = lang.Name{Span: p.span(from), ID: id}
	for p.eat(tDot) {
		name := p.jsxWord()
		p.next()
		x = lang.Attr{Span: p.span(from), X: x, Name: name}
		p.link()
	}
	return x
}

// jsxAttributes reads a, b="c", d={e} and {...f}.
func (p *parser) jsxAttributes() []lang.Arg {
	var args []lang.Arg
	for {
		from := p.start()
		switch {
		case p.tok.kind == tLBrace:
			p.next()
			x := p.element()
			p.expect(tRBrace)
			args = append(args, lang.Arg{Value: x})
		case p.tok.kind.isName():
			name := p.jsxWord()
			p.next()
			if p.eat(tColon) {
				name += ":" + p.jsxWord()
				p.next()
			}
			var value lang.Expr = lang.Const{Span: p.span(from), Kind: lang.Bool, Text: "true"}
			if p.tok.kind == tAssign {
				value = p.jsxValue()
			}
			args = append(args, lang.Arg{Name: name, Value: value})
		default:
			return args
		}
	}
}

// jsxValue reads the value of an attribute from "=" on. A string has no escapes there.
func (p *parser) jsxValue() lang.Expr {
	p.skipSpace(false)
	quote := p.at(p.pos)
	if quote != '"' && quote != '\'' {
		p.next()
		switch p.tok.kind {
		case tLBrace:
			p.next()
			x := p.assignment()
			p.expect(tRBrace)
			return x
		case tLt:
			x := p.jsxElement()
			p.expect(tGt)
			return x
		}
		return p.missing()
	}
	from := p.behind()
	n := strings.IndexByte(p.src[p.pos+1:], quote)
	if n < 0 {
		p.next()
		p.fail("a string without an end")
		return lang.Const{Span: lang.Span{Start: from, End: from}, Kind: lang.String}
	}
	text := p.src[p.pos+1 : p.pos+1+n]
	p.lines(p.pos + n + 2)
	p.next()
	return lang.Const{Span: p.span(from), Kind: lang.String, Text: html.UnescapeString(text)}
}

// jsxItems reads the children of an element from the ">" of its first tag to the ">" of
// its last.
func (p *parser) jsxItems() []lang.Item {
	var items []lang.Item
	for !p.failed {
		from := p.behind()
		n := strings.IndexAny(p.src[p.pos:], "{<")
		if n < 0 {
			p.next()
			p.fail("an element without an end")
			return items
		}
		if text := p.src[p.pos : p.pos+n]; strings.TrimSpace(text) != "" {
			p.lines(p.pos + n)
			items = append(items, lang.Item{Value: lang.Const{Span: lang.Span{Start: from, End: p.behind()}, Kind: lang.String, Text: html.UnescapeString(text)}})
		}
		p.next()
		if p.tok.kind == tLBrace {
			items = p.jsxChild(items)
			continue
		}
		if t, _ := p.peek(); t.kind != tSlash {
			p.less()
			items = append(items, lang.Item{Value: p.jsxElement()})
			continue
		}
		p.next()
		p.next()
		if p.tok.kind != tGt {
			p.jsxName()
		}
		if p.tok.kind != tGt {
			p.unexpected()
		}
		return items
	}
	return items
}

// jsxChild reads {x} between elements; its "}" stays the current token.
func (p *parser) jsxChild(items []lang.Item) []lang.Item {
	p.next()
	if p.tok.kind != tRBrace {
		from := p.start()
		var x lang.Expr
		if p.eat(tEllipsis) {
			inner := p.expression()
			x = lang.Spread{Span: p.span(from), X: inner}
		} else {
			x = p.expression()
		}
		items = append(items, lang.Item{Value: x})
	}
	if p.tok.kind != tRBrace {
		p.unexpected()
	}
	return items
}
