package javascript

import (
	"github.com/coalmine-dev/coalmine/audit/lang"
)

const (
	// maxDepth bounds the tree, and with it the stacks of the parser and of its readers.
	maxDepth = 2000
	// maxUnread bounds the parts that a file reports as unread; the last takes the rest.
	maxUnread = 1000
)

// context is what the grammar around a place allows.
type context struct {
	// module is set where "<!--" is no comment: in modules and TypeScript.
	module bool
	// async and generator are set in such functions, function in any.
	async, generator, function bool
	// noIn is set in the head of a for, where "in" is no operator.
	noIn bool
	// colon is set where a colon may follow an expression: before the ":" of "?:" and
	// in a case. There "(a): b" need not be an arrow function with its result's type.
	colon bool
	// space is set in a namespace of TypeScript, which exports nothing from the module.
	space bool
}

// parser builds the tree by recursive descent, with one token of lookahead.
//
// After a failure the current token is the end of the source until recover is called.
// So every loop ends, and each function returns what it has.
type parser struct {
	lexer
	dialect dialect
	unread  []lang.Unread

	// depth is how deep the parser stands in the tree; peak is the deepest that the
	// expression which is being read has reached.
	depth, peak int
	// guessing counts the attempts that may be taken back; budget is how many bytes more
	// may be read in vain.
	guessing, budget int
	// noArrow holds the offsets of parentheses that are not an arrow's: see typedArrow.
	noArrow map[int]bool

	// The stacks on which lists are gathered, so that each is allocated once.
	args  []lang.Arg
	items []lang.Item
	exprs []lang.Expr
	stmts []lang.Stmt
}

func newParser(src string, d dialect) *parser {
	p := &parser{dialect: d, budget: 4*len(src) + 1<<16}
	p.src = src
	p.line = 1
	p.arrowEnd = -1
	p.module = d.module
	return p
}

// enter goes one level deeper, and fails at the limit. Each call has its leave.
func (p *parser) enter() {
	if p.depth++; p.depth > p.peak {
		p.peak = p.depth
		p.tooDeep()
	}
}

func (p *parser) leave() { p.depth-- }

// link notes that what was read of an expression became an operand: a.b to a.b.c.
func (p *parser) link() {
	p.peak++
	p.tooDeep()
}

func (p *parser) tooDeep() {
	if p.peak > maxDepth {
		p.fail("nested too deeply")
	}
}

// fail ends the reading of the current statement at the current token.
func (p *parser) fail(why string) {
	if p.failed {
		return
	}
	p.failed, p.why, p.bad = true, why, p.tok
	p.tok.kind = tEOF
}

// unexpected fails at a token that the grammar has no place for.
func (p *parser) unexpected() {
	switch p.tok.kind {
	case tEOF:
		p.fail("the source ends too soon")
	case tBad:
		p.fail("no token of the language")
	default:
		p.fail("a token that does not belong here")
	}
}

// eat reads past a token of a kind, if it is the current one.
func (p *parser) eat(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

// eatWord does the same for a contextual word.
func (p *parser) eatWord(word string) bool {
	if !p.is(word) {
		return false
	}
	p.next()
	return true
}

// expect fails where the current token is of another kind.
func (p *parser) expect(k kind) {
	if !p.eat(k) {
		p.unexpected()
	}
}

// semicolon ends a statement: ECMA-262, 12.10, automatic semicolon insertion.
func (p *parser) semicolon() {
	if p.eat(tSemi) || p.tok.kind == tRBrace || p.tok.newline || p.tok.kind == tEOF {
		return
	}
	p.unexpected()
}

// peek returns the next token and its text.
func (p *parser) peek() (token, string) {
	saved := p.state
	p.next()
	t, text := p.tok, p.text()
	p.state = saved
	return t, text
}

// guess calls f and takes all back where it fails or reports false.
func (p *parser) guess(f func() bool) bool {
	if p.failed || p.budget <= 0 {
		return false
	}
	saved, depth, peak := p.state, p.depth, p.peak
	p.guessing++
	ok := f() && !p.failed
	p.guessing--
	if !ok {
		p.budget -= p.pos - saved.pos + 1
		p.state, p.depth, p.peak = saved, depth, peak
	}
	return ok
}

// inside sets the context of what is in brackets; the caller restores what it returns.
func (p *parser) inside() context {
	saved := p.context
	p.noIn, p.colon = false, false
	return saved
}

// span is the part from a position to the end of the token before the current one.
func (p *parser) span(from lang.Pos) lang.Span {
	if p.prev.Offset() < from.Offset() {
		return lang.Span{Start: from, End: from}
	}
	return lang.Span{Start: from, End: p.prev}
}

// ident reads an identifier.
func (p *parser) ident() lang.Name {
	from := p.start()
	if p.tok.kind != tIdent {
		p.unexpected()
		return lang.Name{Span: lang.Span{Start: from, End: from}}
	}
	id := p.name()
	p.next()
	return lang.Name{Span: p.span(from), ID: id}
}

// missing fails, and stands for the expression that is not there.
func (p *parser) missing() lang.Expr {
	p.unexpected()
	return lang.Name{Span: lang.Span{Start: p.start(), End: p.start()}}
}
