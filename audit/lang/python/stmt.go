package python

import (
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// statement parses one statement, or the simple ones of a line, and adds them to body.
func (p *parser) statement(body []lang.Stmt) []lang.Stmt {
	var s lang.Stmt
	switch p.k {
	case kIf:
		s = p.ifStmt()
	case kFor, kWhile:
		s = p.loop(p.i)
	case kTry:
		s = p.try()
	case kWith:
		s = p.with(p.i)
	case kDef, kClass, kAt:
		s = p.definition()
	case kAsync:
		s = p.async()
	case kName:
		if p.word(p.i) == "match" && p.isMatch() {
			s = p.match()
			break
		}
		return p.line(body)
	case kIndent:
		p.fail(errorTexts[errIndentation])
		return body
	default:
		return p.line(body)
	}
	if s == nil {
		return body
	}
	return append(body, s)
}

// line parses the simple statements of a logical line.
func (p *parser) line(body []lang.Stmt) []lang.Stmt {
	for {
		p.from = p.i
		n := len(body)
		body = p.simple(body)
		if p.k != kSemicolon && p.k != kNewline {
			p.fail("not the syntax of Python")
		}
		if p.failed {
			return body[:n]
		}
		if p.accept(kSemicolon) && p.k != kNewline {
			continue
		}
		p.next()
		return body
	}
}

// simple parses one simple statement; an import of several modules is several.
func (p *parser) simple(body []lang.Stmt) []lang.Stmt {
	start := p.i
	switch p.k {
	case kImport:
		return p.importStmt(body)
	case kFrom:
		return append(body, p.fromStmt())
	case kReturn:
		p.next()
		var x lang.Expr
		if !p.endsSimple() {
			x = p.starExpressions()
		}
		return append(body, lang.Return{Span: p.span(start), Op: "return", X: x})
	case kRaise:
		return append(body, p.raise())
	case kPass, kBreak, kContinue:
		p.next()
		return append(body, lang.Jump{Span: p.span(start), Op: p.word(start)})
	case kGlobal, kNonlocal, kDel:
		return append(body, p.jump())
	case kAssert:
		p.next()
		args := []lang.Expr{p.expression()}
		if p.accept(kComma) {
			args = append(args, p.expression())
		}
		return append(body, lang.ExprStmt{Span: p.span(start), X: lang.Operation{Span: p.span(start), Op: "assert", Operands: args}})
	case kName:
		if next := p.peek(); next == kName && p.word(start) == "type" {
			if k := p.toks[start+2].kind; k == kAssign || k == kLBracket {
				return append(body, p.typeAlias())
			}
		}
	}
	return append(body, p.expressionStmt())
}

// endsSimple reports whether a simple statement ends here.
func (p *parser) endsSimple() bool { return p.k == kNewline || p.k == kSemicolon }

func (p *parser) raise() lang.Stmt {
	start := p.i
	p.next()
	var x lang.Expr
	if !p.endsSimple() {
		from := p.i
		x = p.expression()
		if p.accept(kFrom) {
			cause := p.expression()
			x = lang.Operation{Span: p.span(from), Op: "from", Operands: []lang.Expr{x, cause}}
		}
	}
	return lang.Return{Span: p.span(start), Op: "raise", X: x}
}

// jump parses global, nonlocal and del.
func (p *parser) jump() lang.Stmt {
	start, names := p.i, p.k != kDel
	p.next()
	var operands []lang.Expr
	for {
		if names {
			operands = append(operands, p.nameExpr())
		} else {
			x := p.binary(precOr)
			p.target(x, false)
			operands = append(operands, x)
		}
		if !p.accept(kComma) || p.endsSimple() {
			return lang.Jump{Span: p.span(start), Op: p.word(start), Operands: operands}
		}
	}
}

func (p *parser) typeAlias() lang.Stmt {
	start := p.i
	p.next()
	target := p.nameExpr()
	var inner []lang.Expr
	for _, t := range p.typeParams() {
		for _, x := range []lang.Expr{t.Annotation, t.Default} {
			if x != nil {
				inner = append(inner, x)
			}
		}
	}
	p.expect(kAssign)
	from := p.i
	value := p.expression()
	if inner != nil {
		value = lang.Operation{Span: p.span(from), Op: "type", Operands: append([]lang.Expr{value}, inner...)}
	}
	return lang.Assign{Span: p.span(start), Targets: []lang.Expr{target}, Op: "type", Value: value}
}

// expressionStmt parses an expression, or an assignment that begins with one.
func (p *parser) expressionStmt() lang.Stmt {
	start := p.i
	x := p.yieldOrStars()
	switch p.k {
	case kAssign:
		targets := make([]lang.Expr, 0, 1)
		for p.accept(kAssign) {
			p.target(x, true)
			targets = append(targets, x)
			x = p.yieldOrStars()
		}
		return lang.Assign{Span: p.span(start), Targets: targets, Op: "=", Value: x}
	case kAugAssign:
		p.single(x)
		op := p.word(p.i)
		p.next()
		value := p.yieldOrStars()
		return lang.Assign{Span: p.span(start), Targets: []lang.Expr{x}, Op: op, Value: value}
	case kColon:
		p.single(x)
		p.next()
		annotation := p.expression()
		var value lang.Expr
		if p.accept(kAssign) {
			value = p.yieldOrStars()
		}
		return lang.Assign{Span: p.span(start), Targets: []lang.Expr{x}, Op: "=", Annotation: annotation, Value: value}
	}
	return lang.ExprStmt{Span: p.span(start), X: x}
}

// single fails where an expression is no target of an augmented or annotated assignment.
func (p *parser) single(x lang.Expr) {
	if _, many := x.(lang.Collection); many {
		p.fail("a target that cannot be assigned to")
	}
	p.target(x, false)
}

// target fails where an expression can not be assigned to or deleted.
func (p *parser) target(x lang.Expr, star bool) {
	switch x := x.(type) {
	case lang.Name:
		if p.src[x.Start.Offset()] != '.' {
			return
		}
	case lang.Attr, lang.Index:
		return
	case lang.Spread:
		if star {
			p.target(x.X, false)
			return
		}
	case lang.Collection:
		if x.Kind == lang.List || x.Kind == lang.Tuple {
			for _, it := range x.Items {
				p.target(it.Value, true)
			}
			return
		}
	}
	p.fail("a target that cannot be assigned to")
}

// dotted accepts a dotted name and returns it.
func (p *parser) dotted() string {
	start := p.i
	name := p.name()
	if p.k != kDot {
		return name
	}
	plain := true
	parts := []string{name}
	for p.accept(kDot) {
		parts = append(parts, p.name())
	}
	if p.failed {
		return ""
	}
	for i := start; i <= p.last; i++ {
		plain = plain && p.toks[i].flags&fWide == 0 && (i == start || p.toks[i].start == p.toks[i-1].end)
	}
	if plain {
		return p.src[p.toks[start].start:p.toks[p.last].end]
	}
	return strings.Join(parts, ".")
}

func (p *parser) importStmt(body []lang.Stmt) []lang.Stmt {
	start, n := p.i, len(body)
	p.next()
	for {
		imp := lang.Import{Module: p.dotted()}
		if p.accept(kAs) {
			imp.Names = []lang.ImportName{{Name: "*", As: p.name()}}
		}
		body = append(body, imp)
		if !p.accept(kComma) {
			break
		}
	}
	for i := n; i < len(body); i++ {
		imp := body[i].(lang.Import)
		imp.Span = p.span(start)
		body[i] = imp
	}
	return body
}

func (p *parser) fromStmt() lang.Stmt {
	start := p.i
	p.next()
	dots := 0
	for p.k == kDot || p.k == kEllipsis {
		if dots++; p.k == kEllipsis {
			dots += 2
		}
		p.next()
	}
	imp := lang.Import{Module: strings.Repeat(".", dots)}
	if p.k == kName || dots == 0 {
		imp.Module += p.dotted()
	}
	p.expect(kImport)
	switch {
	case p.accept(kStar):
		imp.Names = []lang.ImportName{{Name: "*", As: "*"}}
	case p.accept(kLParen):
		for ok := true; ok; ok = p.accept(kComma) && p.k != kRParen {
			imp.Names = append(imp.Names, p.importName())
		}
		p.expect(kRParen)
	default:
		for ok := true; ok; ok = p.accept(kComma) {
			imp.Names = append(imp.Names, p.importName())
		}
	}
	imp.Span = p.span(start)
	return imp
}

func (p *parser) importName() lang.ImportName {
	name := p.name()
	as := name
	if p.accept(kAs) {
		as = p.name()
	}
	return lang.ImportName{Name: name, As: as}
}
