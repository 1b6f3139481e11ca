package python

import "github.com/coalmine-dev/coalmine/audit/lang"

// Precedences of operators, from the loosest.
const (
	precOr = 1 + iota
	precAnd
	precNot
	precCompare
	precPipe
	precCaret
	precAmp
	precShift
	precSum
	precProduct
	precUnary
)

// precedence holds those of the binary operators; others have 0.
var precedence = [256]uint8{
	kOr: precOr, kAnd: precAnd, kNot: precCompare, kIn: precCompare, kIs: precCompare, kLess: precCompare,
	kGreater: precCompare, kEqual: precCompare, kNotEqual: precCompare, kLessEqual: precCompare,
	kGreaterEqual: precCompare, kPipe: precPipe, kCaret: precCaret, kAmp: precAmp, kShift: precShift,
	kPlus: precSum, kMinus: precSum, kStar: precProduct, kSlash: precProduct, kDoubleSlash: precProduct,
	kPercent: precProduct, kAt: precProduct,
}

// yieldOrStars parses what may stand on the right of "=".
func (p *parser) yieldOrStars() lang.Expr {
	if p.k == kYield {
		return p.yield()
	}
	return p.starExpressions()
}

func (p *parser) yield() lang.Expr {
	start := p.i
	p.enter()
	defer p.leave()
	p.next()
	op := lang.Operation{Op: "yield"}
	if p.accept(kFrom) {
		op.Op, op.Operands = "yield from", []lang.Expr{p.expression()}
	} else if p.startsExpression() || p.k == kStar {
		op.Operands = []lang.Expr{p.starExpressions()}
	}
	op.Span = p.span(start)
	return op
}

// startsExpression reports whether the present token begins an expression.
func (p *parser) startsExpression() bool {
	switch p.k {
	case kName, kNumber, kString, kFStart, kAwait, kFalse, kLambda, kNone, kNot, kTrue, kLParen,
		kLBracket, kLBrace, kEllipsis, kPlus, kMinus, kTilde:
		return true
	}
	return false
}

// starExpressions parses expressions with commas: several are a tuple.
func (p *parser) starExpressions() lang.Expr {
	start := p.i
	x := p.element(false)
	if p.k != kComma {
		if _, star := x.(lang.Spread); star {
			p.fail("a star without a collection")
		}
		return x
	}
	items := []lang.Item{{Value: x}}
	for p.accept(kComma) && (p.startsExpression() || p.k == kStar) {
		items = append(items, lang.Item{Value: p.element(false)})
	}
	return lang.Collection{Span: p.span(start), Kind: lang.Tuple, Items: items}
}

// element parses an expression or *x. A target ends before "in".
func (p *parser) element(target bool) lang.Expr {
	start := p.i
	if p.accept(kStar) {
		x := p.binary(precPipe)
		return lang.Spread{Span: p.span(start), X: x}
	}
	if target {
		return p.binary(precPipe)
	}
	return p.expression()
}

// targets parses the targets of a loop.
func (p *parser) targets() lang.Expr {
	start := p.i
	x := p.element(true)
	if p.k == kComma {
		items := []lang.Item{{Value: x}}
		for p.accept(kComma) && p.k != kIn {
			items = append(items, lang.Item{Value: p.element(true)})
		}
		x = lang.Collection{Span: p.span(start), Kind: lang.Tuple, Items: items}
	}
	p.target(x, false)
	return x
}

// named parses an expression or name := expression.
func (p *parser) named() lang.Expr {
	if p.k != kName || p.peek() != kWalrus {
		return p.expression()
	}
	start := p.i
	target := p.nameExpr()
	p.next()
	value := p.expression()
	return lang.Assign{Span: p.span(start), Targets: []lang.Expr{target}, Op: ":=", Value: value}
}

// starNamed parses an element of a display.
func (p *parser) starNamed() lang.Expr {
	if p.k == kStar {
		return p.element(false)
	}
	return p.named()
}

// expression parses a conditional expression, a lambda or what is simpler.
func (p *parser) expression() lang.Expr {
	p.enter()
	defer p.leave()
	start := p.i
	if p.k == kLambda {
		return p.lambda()
	}
	x := p.binary(precOr)
	if p.k != kIf {
		return x
	}
	p.next()
	test := p.binary(precOr)
	p.expect(kElse)
	other := p.expression()
	return lang.Operation{Span: p.span(start), Op: "if else", Operands: []lang.Expr{x, test, other}}
}

func (p *parser) lambda() lang.Expr {
	f := &lang.Function{}
	start := p.i
	p.next()
	f.Params = p.params(kColon)
	p.expect(kColon)
	from := p.i
	x := p.expression()
	f.Body = []lang.Stmt{lang.Return{Span: p.span(from), Op: "return", X: x}}
	f.Span = p.span(start)
	return f
}

// binary parses operators of at least a precedence, by climbing.
func (p *parser) binary(least uint8) lang.Expr {
	start := p.i
	left := p.unary(least)
	prec := precedence[p.k]
	if prec < least || prec == 0 {
		return left
	}
	var open string // the operator of the operands that were collected
	var operands []lang.Expr
	var end lang.Pos
	begin := p.toks[start].begin()
	for ; prec >= least && prec != 0; prec = precedence[p.k] {
		op, ok := p.operator()
		if !ok {
			break
		}
		right := p.binary(prec + 1)
		if op == open {
			operands = append(operands, right)
		} else {
			if open != "" {
				p.link()
				left = lang.Operation{Span: lang.Span{Start: begin, End: end}, Op: open, Operands: operands}
			}
			open, operands = op, []lang.Expr{left, right}
		}
		end = p.toks[p.last].stop()
	}
	if open == "" {
		return left
	}
	return lang.Operation{Span: lang.Span{Start: begin, End: end}, Op: open, Operands: operands}
}

// operator accepts a binary operator. A "not" without "in" is none.
func (p *parser) operator() (string, bool) {
	switch p.k {
	case kNot:
		if p.peek() != kIn {
			p.fail("not the syntax of Python")
			return "", false
		}
		p.next()
		p.next()
		return "not in", true
	case kIs:
		p.next()
		if p.accept(kNot) {
			return "is not", true
		}
		return "is", true
	}
	op := p.word(p.i)
	p.next()
	return op, true
}

// unary parses prefix operators and powers.
func (p *parser) unary(least uint8) lang.Expr {
	start := p.i
	switch p.k {
	case kNot:
		if least > precNot {
			p.fail("not the syntax of Python")
			return nil
		}
		p.enter()
		defer p.leave()
		p.next()
		x := p.binary(precNot)
		return lang.Operation{Span: p.span(start), Op: "not", Operands: []lang.Expr{x}}
	case kPlus, kMinus, kTilde:
		p.enter()
		defer p.leave()
		p.next()
		x := p.unary(precUnary)
		return lang.Operation{Span: p.span(start), Op: p.word(start), Operands: []lang.Expr{x}}
	}
	x := p.primary()
	if p.k != kPower {
		return x
	}
	p.enter()
	defer p.leave()
	p.next()
	exponent := p.unary(precUnary)
	return lang.Operation{Span: p.span(start), Op: "**", Operands: []lang.Expr{x, exponent}}
}

// primary parses an atom with its attributes, calls and subscripts.
func (p *parser) primary() lang.Expr {
	start := p.i
	if p.accept(kAwait) {
		p.enter()
		defer p.leave()
		x := p.primary()
		return lang.Operation{Span: p.span(start), Op: "await", Operands: []lang.Expr{x}}
	}
	x := p.atom()
	for {
		switch p.k {
		case kDot:
			p.next()
			name := p.name()
			x = lang.Attr{Span: p.span(start), X: x, Name: name}
		case kLParen:
			p.enter()
			p.next()
			args := p.args()
			p.leave()
			x = lang.Call{Span: p.span(start), Func: x, Args: args}
		case kLBracket:
			p.enter()
			p.next()
			keys := p.subscript()
			p.leave()
			x = lang.Index{Span: p.span(start), X: x, Keys: keys}
		default:
			return x
		}
		p.link()
	}
}

// args parses arguments up to their closing parenthesis, and accepts it.
func (p *parser) args() []lang.Arg {
	if p.accept(kRParen) {
		return nil
	}
	args := make([]lang.Arg, 0, 2)
	keywords, double := false, false
	for ok := true; ok && p.k != kRParen && !p.failed; ok = p.accept(kComma) {
		start := p.i
		switch {
		case p.k == kStar || p.k == kPower:
			star := p.k == kStar
			p.next()
			x := p.expression()
			if star && double {
				p.fail("a positional argument behind a keyword")
			}
			double = double || !star
			args = append(args, lang.Arg{Value: lang.Spread{Span: p.span(start), X: x}})
		case p.k == kName && p.peek() == kAssign:
			name := p.name()
			p.next()
			args = append(args, lang.Arg{Name: name, Value: p.expression()})
			keywords = true
		default:
			x := p.named()
			if p.k == kFor || p.k == kAsync {
				x = p.comprehension("generator", x, start)
			}
			if keywords || double {
				p.fail("a positional argument behind a keyword")
			}
			args = append(args, lang.Arg{Value: x})
		}
	}
	p.expect(kRParen)
	return args
}

// subscript parses the inside of brackets, and accepts the closing one.
func (p *parser) subscript() []lang.Expr {
	start := p.i
	keys := p.slice()
	if p.k == kComma {
		items := []lang.Item{{Value: p.slot(keys, start)}}
		for p.accept(kComma) && p.k != kRBracket {
			from := p.i
			items = append(items, lang.Item{Value: p.slot(p.slice(), from)})
		}
		keys = []lang.Expr{lang.Collection{Span: p.span(start), Kind: lang.Tuple, Items: items}}
	}
	p.expect(kRBracket)
	return keys
}

// slot makes one expression of the keys of a slice.
func (p *parser) slot(keys []lang.Expr, start int) lang.Expr {
	if len(keys) == 1 {
		return keys[0]
	}
	return lang.Operation{Span: p.span(start), Op: ":", Operands: keys}
}

// slice parses a key, or the two or three of a slice.
func (p *parser) slice() []lang.Expr {
	var keys []lang.Expr
	if p.k == kColon {
		keys = []lang.Expr{nil}
	} else {
		keys = []lang.Expr{p.starNamed()}
	}
	for len(keys) < 3 && p.accept(kColon) {
		var x lang.Expr
		if p.k != kColon && p.k != kComma && p.k != kRBracket {
			x = p.expression()
		}
		keys = append(keys, x)
	}
	return keys
}
