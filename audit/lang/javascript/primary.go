package javascript

import (
	"github.com/coalmine-dev/coalmine/audit/lang"
)

// primary reads an operand.
func (p *parser) primary() lang.Expr {
	from := p.start()
	switch k := p.tok.kind; k {
	case tIdent:
		return p.identifier(from)
	case tString, tNumber, tNull, tTrue, tFalse:
		return p.constant(from)
	case tTemplate, tHead:
		return p.template()
	case tSlash, tSlashAssign:
		if !p.regexp() {
			p.fail("a regular expression without an end")
			return p.missing()
		}
		text := p.text()
		p.next()
		return lang.Const{Span: p.span(from), Kind: lang.Regexp, Text: text}
	case tLParen:
		return p.parenthesized(from, arrowOrGroup)
	case tLBracket:
		return p.array()
	case tLBrace:
		return p.object()
	case tFunction:
		p.next()
		return p.functionExpression(from, false)
	case tClass:
		return p.class(nil)
	case tAt:
		return p.class(p.decorators())
	case tThis, tSuper, tPrivate:
		id := p.name()
		p.next()
		return lang.Name{Span: p.span(from), ID: id}
	case tImport:
		return p.importExpression(from)
	case tLt:
		if p.dialect.jsx {
			return p.jsx(from)
		}
	}
	return p.missing()
}

// constant reads a literal of one token.
func (p *parser) constant(from lang.Pos) lang.Expr {
	c := lang.Const{Text: p.text()}
	switch p.tok.kind {
	case tString:
		c.Kind = lang.String
		c.Text = c.Text[1 : len(c.Text)-1]
		if p.tok.escaped {
			c.Text = unescape(c.Text, false)
		}
	case tNumber:
		c.Kind = lang.Number
	case tNull:
		c.Kind = lang.Null
	default:
		c.Kind = lang.Bool
	}
	p.next()
	c.Span = p.span(from)
	return c
}

// identifier reads a name, or the arrow function or async function that begins with it.
func (p *parser) identifier(from lang.Pos) lang.Expr {
	if p.is("async") {
		if x := p.asyncFunction(from); x != nil {
			return x
		}
	}
	id := p.name()
	p.next()
	if p.tok.kind == tArrow && !p.tok.newline {
		return p.arrow(from, []lang.Param{{Span: p.span(from), Name: id}}, false)
	}
	if id == "undefined" {
		return lang.Const{Span: p.span(from), Kind: lang.Null, Text: id}
	}
	return lang.Name{Span: p.span(from), ID: id}
}

// asyncFunction reads what "async" begins; nil where it is a plain name.
func (p *parser) asyncFunction(from lang.Pos) lang.Expr {
	t, text := p.peek()
	if t.newline {
		return nil
	}
	switch {
	case t.kind == tFunction:
		p.next()
		p.next()
		return p.functionExpression(from, true)
	case t.kind == tIdent && text != "of" && text != "as" && text != "satisfies":
		p.next()
		name := p.ident()
		if p.tok.kind != tArrow {
			return p.missing()
		}
		return p.arrow(from, []lang.Param{{Span: name.Span, Name: name.ID}}, true)
	case t.kind == tLParen:
		p.next()
		return p.parenthesized(from, asyncOrCall)
	case t.kind == tLt && p.dialect.types:
		if p.guess(func() bool { p.next(); p.skipAngles(); return p.tok.kind == tLParen }) {
			return p.parenthesized(from, asyncOrCall)
		}
	}
	return nil
}

// template reads a template. One without substitutions is a String.
func (p *parser) template() lang.Expr {
	from := p.start()
	if p.tok.kind == tTemplate {
		text := p.piece()
		p.next()
		return lang.Const{Span: p.span(from), Kind: lang.String, Text: text}
	}
	saved := p.inside()
	base := len(p.exprs)
	for {
		p.addPiece(2)
		p.next()
		p.exprs = append(p.exprs, p.expression())
		if p.tok.kind != tRBrace {
			p.unexpected()
			break
		}
		p.continueTemplate()
		if p.tok.kind == tTail {
			p.addPiece(1)
			break
		}
		if p.tok.kind != tMiddle {
			p.fail("a template without an end")
			break
		}
	}
	p.context = saved
	p.next()
	return lang.Template{Span: p.span(from), Parts: p.takeExprs(base)}
}

// addPiece adds the constant piece of a template that the current token is, without the
// last bytes, which are no text.
func (p *parser) addPiece(last int) {
	text := p.piece()
	if text == "" {
		return
	}
	start, end := p.start().Plus(1), p.behind().Plus(-last)
	p.exprs = append(p.exprs, lang.Const{Span: lang.Span{Start: start, End: end}, Kind: lang.String, Text: text})
}

// importExpression reads import(x), import.meta and import.source(x).
func (p *parser) importExpression(from lang.Pos) lang.Expr {
	p.next()
	if p.tok.kind != tLParen && p.tok.kind != tDot {
		return p.missing()
	}
	return lang.Name{Span: p.span(from), ID: "import"}
}

// group is what parentheses may be, beside the parameters of an arrow function.
type group uint8

const (
	arrowOrGroup group = iota
	// asyncOrCall are parentheses behind "async".
	asyncOrCall
)

// parenthesized reads what is in parentheses: an expression, or the parameters of an
// arrow function with what follows them. The elements are read as expressions that may
// have TypeScript's annotations, and what follows the parentheses decides.
func (p *parser) parenthesized(from lang.Pos, as group) lang.Expr {
	open := p.tok.start
	word := lang.Name{Span: p.span(from), ID: "async"}
	saved := p.inside()
	base := len(p.exprs)
	p.next()
	arrow := false
	for p.tok.kind != tRParen && p.tok.kind != tEOF {
		x, param := p.parameterOrElement(as)
		arrow = arrow || param
		p.exprs = append(p.exprs, x)
		if !p.eat(tComma) {
			break
		}
		if p.tok.kind == tRParen && as == arrowOrGroup {
			arrow = true
		}
	}
	p.context = saved
	p.expect(tRParen)
	elements := p.takeExprs(base)
	if p.tok.kind == tArrow && !p.tok.newline {
		list, ok := params(elements)
		if !ok {
			return p.missing()
		}
		return p.arrow(from, list, as == asyncOrCall)
	}
	if p.tok.kind == tColon && p.dialect.types {
		if f := p.typedArrow(from, open, elements, as == asyncOrCall); f != nil {
			return f
		}
	}
	if as == asyncOrCall {
		call := lang.Call{Span: p.span(from), Func: word}
		for _, x := range elements {
			call.Args = append(call.Args, lang.Arg{Value: x})
		}
		return call
	}
	if arrow || len(elements) == 0 {
		return p.missing()
	}
	if len(elements) == 1 {
		return elements[0]
	}
	return lang.Operation{Span: lang.Span{Start: elements[0].Place().Start, End: elements[len(elements)-1].Place().End}, Op: ",", Operands: elements}
}

// parameterOrElement reads one element, and tells whether it can only be a parameter.
func (p *parser) parameterOrElement(as group) (x lang.Expr, param bool) {
	from := p.start()
	x = p.element()
	if _, ok := x.(lang.Spread); ok && as == arrowOrGroup {
		param = true
	}
	if !p.dialect.types {
		return x, param
	}
	if p.tok.kind == tQuestion {
		p.next()
		param = true
	}
	if p.tok.kind == tColon {
		p.annotation()
		param = true
		if p.eat(tAssign) {
			value := p.assignment()
			x = lang.Assign{Span: p.span(from), Targets: []lang.Expr{x}, Op: "=", Value: value}
		}
	}
	return x, param
}

// typedArrow reads ": T => body" behind parentheses, if that is what follows; else nil.
// In the middle of "?:" the arrow counts only where the colon of that follows it.
func (p *parser) typedArrow(from lang.Pos, open int, elements []lang.Expr, async bool) lang.Expr {
	list, ok := params(elements)
	if !ok || p.noArrow[open] {
		return nil
	}
	var f lang.Expr
	middle := p.colon
	ok = p.guess(func() bool {
		p.annotation()
		if p.tok.kind != tArrow || p.tok.newline {
			return false
		}
		if middle {
			f = p.arrow(from, list, async)
			return p.tok.kind == tColon
		}
		return true
	})
	switch {
	case !ok:
		if p.noArrow == nil {
			p.noArrow = map[int]bool{}
		}
		p.noArrow[open] = true
		return nil
	case middle:
		return f
	}
	return p.arrow(from, list, async)
}
