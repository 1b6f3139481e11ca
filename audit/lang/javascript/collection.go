package javascript

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// array reads an array or a pattern of one. A hole is a Null.
func (p *parser) array() lang.Expr {
	from := p.start()
	saved := p.inside()
	base := len(p.items)
	p.next()
	for p.tok.kind != tRBracket && p.tok.kind != tEOF {
		if p.tok.kind == tComma {
			at := p.start()
			p.items = append(p.items, lang.Item{Value: lang.Const{Span: lang.Span{Start: at, End: at}, Kind: lang.Null}})
			p.next()
			continue
		}
		p.items = append(p.items, lang.Item{Value: p.element()})
		if p.tok.kind != tRBracket {
			p.expect(tComma)
		}
	}
	p.context = saved
	p.expect(tRBracket)
	return lang.Collection{Span: p.span(from), Kind: lang.List, Items: p.takeItems(base)}
}

func (p *parser) takeItems(base int) []lang.Item {
	out := slices.Clone(p.items[base:])
	p.items = p.items[:base]
	return out
}

// object reads an object or a pattern of one.
func (p *parser) object() lang.Expr {
	from := p.start()
	saved := p.inside()
	base := len(p.items)
	p.next()
	for p.tok.kind != tRBrace && p.tok.kind != tEOF {
		p.items = append(p.items, p.objectItem())
		if p.tok.kind != tRBrace {
			p.expect(tComma)
		}
	}
	p.context = saved
	p.expect(tRBrace)
	return lang.Collection{Span: p.span(from), Kind: lang.Dict, Items: p.takeItems(base)}
}

// objectItem reads one property of an object.
func (p *parser) objectItem() lang.Item {
	from := p.start()
	if p.tok.kind == tEllipsis {
		return lang.Item{Value: p.element()}
	}
	f, generator := p.methodWords()
	word := p.tok.kind == tIdent
	key := p.key()
	switch {
	case p.tok.kind == tLParen || p.tok.kind == tLt && p.dialect.types:
		f.Name = keyText(key)
		p.signature(f, generator)
		f.Span = p.span(from)
		return lang.Item{Key: key, Value: f}
	case p.eat(tColon):
		return lang.Item{Key: key, Value: p.assignment()}
	case !word:
		p.unexpected()
		return lang.Item{Key: key, Value: key}
	}
	var value lang.Expr = lang.Name{Span: p.span(from), ID: keyText(key)}
	if p.eat(tAssign) { // in a pattern alone
		x := p.assignment()
		value = lang.Assign{Span: p.span(from), Targets: []lang.Expr{value}, Op: "=", Value: x}
	}
	return lang.Item{Key: key, Value: value}
}

// methodWords reads async, get, set and "*" before the name of a method.
func (p *parser) methodWords() (f *lang.Function, generator bool) {
	f = &lang.Function{}
	if p.tok.kind == tIdent {
		switch word := p.text(); word {
		case "async", "get", "set":
			t, _ := p.peek()
			if !beginsKey(t.kind) && t.kind != tStar || word == "async" && t.newline {
				break
			}
			if word == "async" {
				f.Async = true
			} else {
				f.Accessor = word
			}
			p.next()
		}
	}
	return f, p.eat(tStar)
}

// beginsKey tells whether the name of a property may begin with a token.
func beginsKey(k kind) bool {
	return k.isName() || k == tString || k == tNumber || k == tPrivate || k == tLBracket
}

// key reads the name of a property. A computed one is its expression.
func (p *parser) key() lang.Expr {
	from := p.start()
	switch p.tok.kind {
	case tString, tNumber:
		return p.constant(from)
	case tLBracket:
		saved := p.inside()
		p.next()
		x := p.assignment()
		p.context = saved
		p.expect(tRBracket)
		return x
	}
	if !p.tok.kind.isName() && p.tok.kind != tPrivate {
		return p.missing()
	}
	name := p.name()
	p.next()
	return lang.Const{Span: p.span(from), Kind: lang.String, Text: name}
}

// keyText returns the name that a key is, "" for a computed one.
func keyText(key lang.Expr) string {
	if c, ok := key.(lang.Const); ok {
		return c.Text
	}
	return ""
}
