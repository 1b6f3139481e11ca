package javascript

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// typeStatement reads a statement of TypeScript that begins with a word that is not
// reserved. It reports false where the word is a name.
func (p *parser) typeStatement(word string) bool {
	t, text := p.peek()
	if t.newline {
		return false
	}
	switch word {
	case "abstract":
		if t.kind != tClass {
			return false
		}
		p.classStatement(nil)
	case "type":
		if t.kind != tIdent {
			return false
		}
		p.next()
		p.next()
		p.typeParameters()
		p.expect(tAssign)
		p.skipType()
		p.semicolon()
	case "interface":
		if t.kind != tIdent {
			return false
		}
		p.next()
		p.next()
		p.typeParameters()
		if p.eat(tExtends) {
			p.skipTypes()
		}
		p.skipBrackets()
	case "namespace", "module":
		if t.kind != tIdent {
			return false
		}
		p.namespace()
	case "declare":
		if !t.kind.isName() || t.kind == tIn || t.kind == tInstanceof || text == "as" || text == "satisfies" {
			return false
		}
		p.declared()
	default:
		return false
	}
	return true
}

// namespace reads one with statements. What it exports stays inside of it.
func (p *parser) namespace() {
	from := p.start()
	p.next()
	p.ident()
	for p.eat(tDot) {
		p.ident()
	}
	saved := p.space
	p.space = true
	body := p.block()
	p.space = saved
	p.add(lang.Block{Span: p.span(from), Body: body})
}

// declared reads what "declare" begins, and drops it.
func (p *parser) declared() {
	p.next()
	switch {
	case p.is("global"):
		p.next()
		p.skipBrackets()
		return
	case p.is("module") || p.is("namespace"):
		p.next()
		for p.tok.kind == tString || p.tok.kind == tDot || p.tok.kind == tIdent && !p.tok.newline {
			p.next()
		}
		if p.tok.kind == tLBrace {
			p.skipBrackets()
			return
		}
		p.semicolon()
		return
	}
	base := len(p.stmts)
	p.statement()
	p.stmts = p.stmts[:base]
}

// enum reads an enum as a class with a field for each member.
func (p *parser) enum() {
	from := p.start()
	p.next()
	c := &lang.Class{Name: p.ident().ID}
	saved := p.inside()
	p.expect(tLBrace)
	for p.tok.kind != tRBrace && p.tok.kind != tEOF {
		at := p.start()
		computed := p.tok.kind == tLBracket
		key := p.key()
		a := lang.Assign{Op: "=", Targets: []lang.Expr{lang.Name{Span: key.Place(), ID: keyText(key)}}}
		if computed {
			a.Targets[0] = member(key)
		}
		if p.eat(tAssign) {
			a.Value = p.assignment()
		}
		a.Span = p.span(at)
		c.Body = append(c.Body, a)
		if p.tok.kind != tRBrace {
			p.expect(tComma)
		}
	}
	p.context = saved
	p.expect(tRBrace)
	c.Span = p.span(from)
	p.add(c)
}

// names adds the names that a target binds.
func names(list []lang.ImportName, target lang.Expr) []lang.ImportName {
	switch t := target.(type) {
	case lang.Name:
		list = append(list, lang.ImportName{Name: t.ID, As: t.ID})
	case lang.Assign:
		for _, x := range t.Targets {
			list = names(list, x)
		}
	case lang.Spread:
		list = names(list, t.X)
	case lang.Collection:
		for _, item := range t.Items {
			list = names(list, item.Value)
		}
	}
	return list
}

// declaredNames returns the names that statements declare.
func declaredNames(stmts []lang.Stmt) []lang.ImportName {
	var list []lang.ImportName
	for _, s := range stmts {
		switch s := s.(type) {
		case lang.Assign:
			list = slices.Concat(list, names(nil, s))
		case *lang.Function:
			list = append(list, lang.ImportName{Name: s.Name, As: s.Name})
		case *lang.Class:
			list = append(list, lang.ImportName{Name: s.Name, As: s.Name})
		}
	}
	return list
}
