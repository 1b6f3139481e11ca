package javascript

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// decorators reads @x @y(z).
func (p *parser) decorators() []lang.Expr {
	var list []lang.Expr
	for p.eat(tAt) {
		list = append(list, p.lhs(decorator))
	}
	return list
}

// decorated reads a class statement with its decorators, which may be exported.
func (p *parser) decorated() {
	list := p.decorators()
	switch {
	case p.tok.kind == tExport:
		p.exportDecorated(list)
	case p.tok.kind == tClass || p.is("abstract") && p.dialect.types:
		p.classStatement(list)
	default:
		p.unexpected()
	}
}

// classStatement reads a declaration, and returns its name.
func (p *parser) classStatement(decorators []lang.Expr) string {
	c := p.class(decorators)
	p.add(c)
	return c.Name
}

// class reads a class from "class" or "abstract" on.
func (p *parser) class(decorators []lang.Expr) *lang.Class {
	from := p.start()
	c := &lang.Class{Decorators: decorators}
	if p.tok.kind == tAt {
		c.Decorators = append(c.Decorators, p.decorators()...)
	}
	p.eatWord("abstract")
	p.expect(tClass)
	if p.tok.kind == tIdent && (!p.dialect.types || !p.is("implements")) {
		c.Name = p.ident().ID
	}
	p.typeParameters()
	if p.eat(tExtends) {
		c.Bases = append(c.Bases, lang.Arg{Value: p.lhs(calls)})
		p.typeParameters()
	}
	if p.dialect.types && p.eatWord("implements") {
		p.skipTypes()
	}
	saved := p.inside()
	p.expect(tLBrace)
	base := len(p.stmts)
	for p.tok.kind != tRBrace && p.tok.kind != tEOF {
		at := p.tok
		p.classMember()
		if p.failed && p.guessing == 0 {
			p.recover(inBlock, at)
		}
	}
	c.Body = slices.Clone(p.stmts[base:])
	p.stmts = p.stmts[:base]
	p.context = saved
	p.expect(tRBrace)
	c.Span = p.span(from)
	return c
}

// isModifier tells whether a word may stand before a member or a parameter.
func isModifier(word string) bool {
	switch word {
	case "public", "private", "protected", "readonly", "override", "abstract", "declare", "accessor", "static":
		return true
	}
	return false
}

// modifiers reads the words before a member. It reports whether the member has a
// meaning for types alone.
func (p *parser) modifiers() (typesOnly bool) {
	for p.tok.kind == tIdent && isModifier(p.text()) {
		word := p.text()
		if !p.dialect.types && word != "static" && word != "accessor" {
			return typesOnly
		}
		t, _ := p.peek()
		block := word == "static" && t.kind == tLBrace
		if !block && !beginsKey(t.kind) && t.kind != tStar && t.kind != tAt || t.newline && word != "static" {
			return typesOnly
		}
		typesOnly = typesOnly || word == "declare" || word == "abstract"
		p.next()
		if block {
			return typesOnly
		}
	}
	return typesOnly
}

// classMember reads a method, a field or a static block.
func (p *parser) classMember() {
	if p.eat(tSemi) {
		return
	}
	p.enter()
	defer p.leave()
	decorators := p.decorators()
	from := p.start()
	typesOnly := p.modifiers()
	if p.tok.kind == tLBrace {
		p.staticBlock(from)
		return
	}
	f, generator := p.methodWords()
	computed, at := p.tok.kind == tLBracket, p.start()
	if computed && p.dialect.types && p.guess(p.indexSignature) {
		return
	}
	key := p.key()
	if p.dialect.types && !p.eat(tQuestion) {
		p.eat(tBang)
	}
	if p.tok.kind == tLParen || p.dialect.types && (p.tok.kind == tLt || p.tok.kind == tShl) {
		p.method(from, f, generator, decorators, key, computed)
		return
	}
	p.field(at, decorators, key, computed, typesOnly)
}

func (p *parser) staticBlock(from lang.Pos) {
	outer := p.context
	p.context = context{module: outer.module, function: true}
	body := p.block()
	p.context = outer
	p.add(lang.Block{Span: p.span(from), Body: body})
}

// indexSignature reads [key: string]: T, which has no meaning but for types.
func (p *parser) indexSignature() bool {
	p.next()
	if !p.tok.kind.isName() {
		return false
	}
	p.next()
	if p.tok.kind != tColon {
		return false
	}
	p.annotation()
	p.expect(tRBracket)
	p.annotation()
	if !p.eat(tComma) {
		p.semicolon()
	}
	return true
}

// method reads one behind its name.
func (p *parser) method(from lang.Pos, f *lang.Function, generator bool, decorators []lang.Expr, key lang.Expr, computed bool) {
	f.Decorators = decorators
	if !computed {
		f.Name = keyText(key)
	}
	p.signature(f, generator)
	f.Span = p.span(from)
	switch {
	case f.Body == nil && p.dialect.types:
	case computed:
		p.add(lang.Assign{Span: f.Span, Targets: []lang.Expr{member(key)}, Op: "=", Value: f})
	default:
		p.add(f)
	}
}

// member is this[key], for a member with a computed name.
func member(key lang.Expr) lang.Expr {
	at := key.Place()
	return lang.Index{Span: at, X: lang.Name{Span: lang.Span{Start: at.Start, End: at.Start}, ID: "this"}, Keys: []lang.Expr{key}}
}

// field reads one behind its name. The calls of its decorators stand before it.
func (p *parser) field(from lang.Pos, decorators []lang.Expr, key lang.Expr, computed, typesOnly bool) {
	p.annotation()
	a := lang.Assign{Op: "="}
	if computed {
		a.Targets = []lang.Expr{member(key)}
	} else {
		a.Targets = []lang.Expr{lang.Name{Span: key.Place(), ID: keyText(key)}}
	}
	if p.eat(tAssign) {
		outer := p.context
		p.context = context{module: outer.module, function: true}
		a.Value = p.assignment()
		p.context = outer
	}
	a.Span = p.span(from)
	p.semicolon()
	for _, d := range decorators {
		p.add(lang.ExprStmt{Span: d.Place(), X: d})
	}
	if !typesOnly || a.Value != nil {
		p.add(a)
	}
}
