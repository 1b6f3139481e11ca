package javascript

import (
	"github.com/coalmine-dev/coalmine/audit/lang"
)

// importStatement reads an import in any of its forms.
func (p *parser) importStatement() {
	from := p.start()
	p.module = true
	p.next()
	i := lang.Import{}
	if p.tok.kind != tString {
		i.Types = p.importPhase()
		if alias := p.importNames(&i); alias {
			p.importAlias(from, i)
			return
		}
	}
	i.Module = p.specifier()
	p.semicolon()
	i.Span = p.span(from)
	p.add(i)
}

// importPhase reads "type", "defer" or "source" before what is imported, and tells
// whether types are.
func (p *parser) importPhase() (types bool) {
	word := p.text()
	if p.tok.kind != tIdent || word != "defer" && word != "source" && (word != "type" || !p.dialect.types) {
		return false
	}
	saved := p.state
	p.next()
	switch p.tok.kind {
	case tStar, tLBrace:
		return word == "type"
	case tIdent:
		// "import type from 'x'" imports a default named type; so does "import type, …".
		if t, text := p.peek(); !p.is("from") || t.kind == tIdent && text == "from" || t.kind == tAssign {
			return word == "type"
		}
	}
	p.state = saved
	return false
}

// importNames reads what is imported, up to "from". It reports true at the "=" of
// TypeScript's import x = y.
func (p *parser) importNames(i *lang.Import) (alias bool) {
	if p.tok.kind == tIdent {
		name := p.ident().ID
		if p.tok.kind == tAssign {
			i.Names = []lang.ImportName{{Name: "*", As: name}}
			return true
		}
		i.Names = append(i.Names, lang.ImportName{Name: "default", As: name})
		p.eat(tComma)
	}
	switch p.tok.kind {
	case tStar:
		p.next()
		p.eatWord("as")
		i.Names = append(i.Names, lang.ImportName{Name: "*", As: p.ident().ID})
	case tLBrace:
		i.Names = append(i.Names, p.specifiers()...)
	}
	if !p.eatWord("from") {
		p.unexpected()
	}
	return false
}

// importAlias reads import x = require("y"), and import x = A.B, from "=" on.
func (p *parser) importAlias(from lang.Pos, i lang.Import) {
	p.next()
	if t, _ := p.peek(); p.is("require") && t.kind == tLParen {
		p.next()
		p.next()
		if p.tok.kind == tString {
			i.Module = keyText(p.key())
		} else {
			p.unexpected()
		}
		p.expect(tRParen)
		p.semicolon()
		i.Span = p.span(from)
		p.add(i)
		return
	}
	x := p.lhs(members)
	p.semicolon()
	if !i.Types {
		name := lang.Name{Span: lang.Span{Start: from, End: from}, ID: i.Names[0].As}
		p.add(lang.Assign{Span: p.span(from), Targets: []lang.Expr{name}, Op: "=", Value: x, Declares: "const"})
	}
}

// specifier reads the name of a module and the attributes behind it.
func (p *parser) specifier() string {
	if p.tok.kind != tString {
		p.unexpected()
		return ""
	}
	module := keyText(p.key())
	if p.tok.kind == tWith || p.is("assert") && !p.tok.newline {
		if t, _ := p.peek(); t.kind == tLBrace {
			p.next()
			p.object()
		}
	}
	return module
}

// specifiers reads {a, b as c, type D}. Those of types are left out.
func (p *parser) specifiers() []lang.ImportName {
	var list []lang.ImportName
	p.next()
	for p.tok.kind != tRBrace && p.tok.kind != tEOF {
		types := false
		if p.is("type") && p.dialect.types {
			types = p.typeSpecifier()
		}
		n := lang.ImportName{Name: p.specifierName()}
		n.As = n.Name
		if p.eatWord("as") {
			n.As = p.specifierName()
		}
		if !types {
			list = append(list, n)
		}
		if !p.eat(tComma) {
			break
		}
	}
	p.expect(tRBrace)
	return list
}

// typeSpecifier reads past the "type" of {type X}, and tells whether it was that.
func (p *parser) typeSpecifier() bool {
	saved := p.state
	p.next()
	if !p.is("as") {
		if p.tok.kind.isName() || p.tok.kind == tString {
			return true
		}
		p.state = saved
		return false
	}
	// {type as} names a type, and {type as x} a value. With a second "as" before the x, it
	// is a type again, and without an x a value.
	t, text := p.peek()
	if !t.kind.isName() {
		return true
	}
	if text == "as" {
		inner := p.state
		p.next()
		t, _ = p.peek()
		p.state = inner
		if t.kind.isName() {
			return true
		}
	}
	p.state = saved
	return false
}

func (p *parser) specifierName() string {
	if !p.tok.kind.isName() && p.tok.kind != tString {
		p.unexpected()
		return ""
	}
	return keyText(p.key())
}

// exportStatement reads an export in any of its forms.
func (p *parser) exportStatement() {
	from := p.start()
	p.module = true
	p.next()
	switch p.tok.kind {
	case tStar:
		p.exportAll(from, false)
	case tLBrace:
		p.exportNames(from, false)
	case tDefault:
		p.next()
		p.exportDefault(from, nil)
	case tAssign: // export = x
		p.next()
		at := lang.Span{Start: from, End: p.prev}
		x := p.expression()
		p.semicolon()
		target := lang.Attr{Span: at, X: lang.Name{Span: at, ID: "module"}, Name: "exports"}
		p.add(lang.Assign{Span: p.span(from), Targets: []lang.Expr{target}, Op: "=", Value: x})
	case tIdent:
		p.exportWord(from)
	case tAt:
		p.exportDecorated(nil)
	default:
		p.exportDeclaration(from)
	}
}

// exportWord reads an export that begins with a word that is not reserved.
func (p *parser) exportWord(from lang.Pos) {
	t, text := p.peek()
	switch {
	case p.is("type") && p.dialect.types && (t.kind == tStar || t.kind == tLBrace):
		p.next()
		if p.tok.kind == tStar {
			p.exportAll(from, true)
		} else {
			p.exportNames(from, true)
		}
	case p.is("as") && text == "namespace": // export as namespace X
		p.next()
		p.next()
		p.ident()
		p.semicolon()
	default:
		p.exportDeclaration(from)
	}
}

// exportDeclaration reads a declaration and exports its names.
func (p *parser) exportDeclaration(from lang.Pos) {
	base := len(p.stmts)
	if p.tok.kind == tImport {
		p.importStatement()
	} else {
		p.statement()
	}
	if list := declaredNames(p.stmts[base:]); len(list) > 0 && !p.space {
		p.add(lang.Export{Span: p.span(from), Names: list})
	}
}

// exportDecorated reads the export of a class whose decorators may stand before it.
func (p *parser) exportDecorated(list []lang.Expr) {
	from := p.start()
	if p.eat(tExport) && p.eat(tDefault) {
		p.exportDefault(from, list)
		return
	}
	name := p.classStatement(append(list, p.decorators()...))
	p.add(lang.Export{Span: p.span(from), Names: []lang.ImportName{{Name: name, As: name}}})
}

// exportDefault reads what is behind "export default".
func (p *parser) exportDefault(from lang.Pos, decorators []lang.Expr) {
	at := p.start()
	var name string
	base := len(p.stmts)
	t, _ := p.peek()
	switch {
	case p.tok.kind == tFunction:
		p.next()
		name = p.functionStatement(at, false)
	case p.is("async") && t.kind == tFunction && !t.newline:
		p.next()
		p.next()
		name = p.functionStatement(at, true)
	case p.tok.kind == tClass || p.tok.kind == tAt || p.is("abstract") && t.kind == tClass:
		decorators = append(decorators, p.decorators()...)
		name = p.classStatement(decorators)
	case p.is("interface") && p.dialect.types && t.kind == tIdent && !t.newline:
		p.typeStatement("interface")
		return
	default:
		x := p.assignment()
		p.semicolon()
		p.add(lang.Export{Span: p.span(from), Names: []lang.ImportName{{As: "default"}}, Value: x})
		return
	}
	if len(p.stmts) == base {
		return // an overload
	}
	e := lang.Export{Names: []lang.ImportName{{Name: name, As: "default"}}}
	if name == "" { // the function or class is no statement
		e.Value, _ = p.stmts[base].(lang.Expr)
		p.stmts = p.stmts[:base]
	}
	e.Span = p.span(from)
	p.add(e)
}

// exportAll reads * [as x] from "y".
func (p *parser) exportAll(from lang.Pos, types bool) {
	p.next()
	n := lang.ImportName{Name: "*", As: "*"}
	if p.eatWord("as") {
		n.As = p.specifierName()
	}
	if !p.eatWord("from") {
		p.unexpected()
	}
	i := lang.Import{Module: p.specifier(), Names: []lang.ImportName{n}, Types: types, Exports: true}
	p.semicolon()
	i.Span = p.span(from)
	p.add(i)
}

// exportNames reads {a, b as c} [from "y"].
func (p *parser) exportNames(from lang.Pos, types bool) {
	list := p.specifiers()
	if p.eatWord("from") {
		i := lang.Import{Module: p.specifier(), Names: list, Types: types, Exports: true}
		p.semicolon()
		i.Span = p.span(from)
		p.add(i)
		return
	}
	p.semicolon()
	if !types && len(list) > 0 {
		p.add(lang.Export{Span: p.span(from), Names: list})
	}
}
