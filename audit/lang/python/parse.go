package python

import (
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

const (
	// maxDepth bounds the nesting of expressions and patterns in the parser.
	maxDepth = 300
	// maxChain bounds the links in one logical line that make the tree deeper: x.a.b.c,
	// a + b - c. Chains of one operator do not count.
	maxChain = 10000
	// maxBranches bounds if and its elifs, each of which lies in the one before it.
	maxBranches = 2000

	tooDeep = "nested too deeply"
	python2 = "Python 2"
)

// parser turns tokens into a tree. After a failure its present kind is kError until the
// list of statements around it recovers, so that no rule accepts anything more.
type parser struct {
	src  string
	toks []token
	// i is the index of the present token, k its kind, last that of the last token
	// that was accepted and is no layout.
	i, last int
	k       kind
	// table is that of an encoding with one byte per character, nil for UTF-8.
	table *charmap.Charmap

	depth, chain int
	// failed is set from a failure until the recovery, with its reason.
	failed bool
	why    string
	// from is where the statement or clause begins that is being parsed.
	from   int
	unread []lang.Unread
	// old is set once something shows that the source is of Python 2.
	old bool
	// mentioned maps each name to its first token. It is made when it is needed.
	mentioned map[string]int
}

func (p *parser) next() {
	if p.failed {
		return
	}
	switch p.k {
	case kNewline, kIndent, kDedent:
	case kEOF:
		return
	default:
		p.last = p.i
	}
	p.i++
	p.k = p.toks[p.i].kind
}

func (p *parser) accept(k kind) bool {
	if p.k != k {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(k kind) bool {
	if p.accept(k) {
		return true
	}
	p.fail("not the syntax of Python")
	return false
}

// peek returns the kind of the next token.
func (p *parser) peek() kind {
	if p.k == kEOF || p.failed {
		return p.k
	}
	return p.toks[p.i+1].kind
}

// fail says that the present token fits nothing. The first failure counts.
func (p *parser) fail(why string) {
	if p.failed {
		return
	}
	if t := p.toks[p.i]; t.kind == kError {
		why = errorTexts[t.skip]
	}
	if p.showsPython2() {
		why = python2
	}
	p.old = p.old || why == python2
	p.failed, p.why, p.k = true, why, kError
}

// enter begins a level of nesting, which leave ends.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(tooDeep)
	}
}

func (p *parser) leave() { p.depth-- }

// link adds a link to a chain.
func (p *parser) link() {
	if p.chain++; p.chain > maxChain {
		p.fail(tooDeep)
	}
}

func (t *token) begin() lang.Pos {
	return lang.At(int(t.start), int(t.line), int(t.col))
}

func (t *token) stop() lang.Pos {
	return lang.At(int(t.end), int(t.endLine), int(t.endCol))
}

// span is what lies between a token and the last one that was accepted.
func (p *parser) span(start int) lang.Span {
	return lang.Span{Start: p.toks[start].begin(), End: p.toks[max(p.last, start)].stop()}
}

// word is the text of a token in the source.
func (p *parser) word(i int) string { return p.src[p.toks[i].start:p.toks[i].end] }

// isWord reports whether a token is a name with this text.
func (p *parser) isWord(i int, word string) bool {
	return p.toks[i].kind == kName && p.word(i) == word
}

// ident is the name that a token stands for: Python compares names in the form NFKC.
func (p *parser) ident(i int) string {
	word := p.word(i)
	if p.toks[i].flags&fWide == 0 {
		return word
	}
	return norm.NFKC.String(p.wide(word))
}

// name accepts a name and returns it.
func (p *parser) name() string {
	i := p.i
	if !p.expect(kName) {
		return ""
	}
	id := p.ident(i)
	if p.toks[i].flags&fWide != 0 && !identifier(id) {
		p.fail(errorTexts[errCharacter])
	}
	return id
}

// nameExpr accepts a name.
func (p *parser) nameExpr() lang.Expr {
	start := p.i
	id := p.name()
	return lang.Name{Span: p.span(start), ID: id}
}

// statements parses statements up to the end of a block or of the source.
func (p *parser) statements() []lang.Stmt {
	var body []lang.Stmt
	depth := p.depth
	for p.k != kEOF && p.k != kDedent && !p.old {
		p.from, p.chain = p.i, 0
		body = p.statement(body)
		if p.failed {
			p.depth = depth
			p.recover()
		}
	}
	return body
}

// recover notes the part that failed, and goes on at the next logical line of the same
// indentation.
func (p *parser) recover() {
	i, level, last := p.i, 0, p.i
skip:
	for {
		switch k := p.toks[i].kind; {
		case k == kEOF, k == kDedent && level == 0:
			break skip
		case k == kIndent:
			level++
		case k == kDedent:
			level--
		case k != kNewline:
			last = i
		}
		i++
		if level == 0 {
			if k := p.toks[i-1].kind; k == kDedent || k == kNewline && p.toks[i].kind != kIndent {
				break skip
			}
		}
	}
	p.note(p.from, last, p.why)
	p.failed, p.i, p.k, p.last = false, i, p.toks[i].kind, last
}

// note adds the part between two tokens to what was not read.
func (p *parser) note(from, to int, why string) {
	p.unread = append(p.unread, lang.Unread{Span: lang.Span{Start: p.toks[from].begin(), End: p.toks[max(to, from)].stop()}, Why: why})
}

// suite parses the block of a compound statement, from its colon on.
func (p *parser) suite() []lang.Stmt {
	if !p.expect(kColon) {
		return nil
	}
	if p.k != kNewline {
		p.from = p.i
		return p.line(nil)
	}
	p.next()
	if p.k != kIndent {
		p.note(p.from, p.last, "a block without a statement")
		return nil
	}
	p.next()
	body := p.statements()
	p.accept(kDedent)
	return body
}
