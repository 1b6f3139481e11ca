package schema

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reOp is a node's kind in a parsed expression.
type reOp uint8

const (
	reEmpty reOp = iota
	reClass
	reCat
	reAlt
	reRepeat
	reGroup
	reBackref
	reAhead // a positive lookahead; the negative ones and lookbehinds are left to the judge
	reBegin
	reEnd
)

// reNode is a parsed ECMA-262 regular expression.
type reNode struct {
	op       reOp
	class    runeSet
	subs     []*reNode
	min, max int // repeat; max is unbounded where open
	group    int // group number, or the one referred to
	least    int // length of the shortest text
}

var errPattern = errors.New("expression not understood")

const (
	maxReNodes = 5_000
	maxReDepth = 100
)

// reParser is a recursive descent over the expression. What only narrows the
// language (word boundaries, lookbehinds) is dropped: the judge sees the text.
type reParser struct {
	src    []rune
	pos    int
	nodes  int
	depth  int
	groups int
	names  map[string]int
}

func parseRegexp(text string) (*reNode, error) {
	if !utf8.ValidString(text) {
		return nil, errPattern
	}
	p := &reParser{src: []rune(text), names: map[string]int{}}
	n, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.src) {
		return nil, errPattern
	}
	n.measure()
	return n, nil
}

func (p *reParser) node(op reOp, subs ...*reNode) (*reNode, error) {
	p.nodes++
	if p.nodes > maxReNodes {
		return nil, errPattern
	}
	return &reNode{op: op, subs: subs}, nil
}

func (p *reParser) more() bool { return p.pos < len(p.src) }

func (p *reParser) peek() rune {
	if p.more() {
		return p.src[p.pos]
	}
	return -1
}

func (p *reParser) accept(s string) bool {
	rs := []rune(s)
	if len(p.src)-p.pos < len(rs) {
		return false
	}
	for i, r := range rs {
		if p.src[p.pos+i] != r {
			return false
		}
	}
	p.pos += len(rs)
	return true
}

func (p *reParser) alternatives() (*reNode, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxReDepth {
		return nil, errPattern
	}
	var list []*reNode
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if !p.accept("|") {
			break
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return p.node(reAlt, list...)
}

func (p *reParser) sequence() (*reNode, error) {
	n, err := p.node(reCat)
	if err != nil {
		return nil, err
	}
	for p.more() && p.peek() != '|' && p.peek() != ')' {
		sub, err := p.atom()
		if err != nil {
			return nil, err
		}
		if sub, err = p.quantified(sub); err != nil {
			return nil, err
		}
		n.subs = append(n.subs, sub)
	}
	return n, nil
}

func (p *reParser) quantified(sub *reNode) (*reNode, error) {
	var lo, hi int
	switch {
	case p.accept("*"):
		lo, hi = 0, unbounded
	case p.accept("+"):
		lo, hi = 1, unbounded
	case p.accept("?"):
		lo, hi = 0, 1
	case p.peek() == '{':
		var ok bool
		if lo, hi, ok = p.braces(); !ok {
			return sub, nil
		}
	default:
		return sub, nil
	}
	p.accept("?")
	n, err := p.node(reRepeat, sub)
	if err != nil {
		return nil, err
	}
	n.min, n.max = lo, hi
	return n, nil
}

// braces reads {m}, {m,} or {m,n}; anything else is literal text.
func (p *reParser) braces() (lo, hi int, ok bool) {
	end := p.pos + 1
	for end < len(p.src) && p.src[end] != '}' && end-p.pos < 24 {
		end++
	}
	if end >= len(p.src) || p.src[end] != '}' {
		return 0, 0, false
	}
	a, b, ranged := strings.Cut(string(p.src[p.pos+1:end]), ",")
	lo, err := strconv.Atoi(a)
	if err != nil || lo < 0 {
		return 0, 0, false
	}
	hi = lo
	if ranged {
		hi = unbounded
		if b != "" {
			if hi, err = strconv.Atoi(b); err != nil || hi < lo {
				return 0, 0, false
			}
		}
	}
	p.pos = end + 1
	return lo, min(hi, unbounded), true
}

func (p *reParser) atom() (*reNode, error) {
	r := p.src[p.pos]
	switch r {
	case '(':
		return p.group()
	case '[':
		return p.bracket()
	case '\\':
		return p.escape()
	}
	p.pos++
	switch r {
	case '^':
		return p.node(reBegin)
	case '$':
		return p.node(reEnd)
	case '.':
		return p.classNode(notNewline)
	case '*', '+', '?':
		return nil, errPattern
	}
	return p.classNode(runeSet{{r, r}})
}

func (p *reParser) classNode(set runeSet) (*reNode, error) {
	n, err := p.node(reClass)
	if err != nil {
		return nil, err
	}
	n.class = set
	return n, nil
}

func (p *reParser) group() (*reNode, error) {
	p.pos++
	op, number := reGroup, 0
	switch {
	case p.accept("?:"):
	case p.accept("?="):
		op = reAhead
	case p.accept("?!"), p.accept("?<="), p.accept("?<!"):
		op = reEmpty
	case p.accept("?<"):
		p.groups++
		number = p.groups
		start := p.pos
		for p.more() && p.peek() != '>' {
			p.pos++
		}
		p.names[string(p.src[start:p.pos])] = number
		if !p.accept(">") {
			return nil, errPattern
		}
	case p.peek() == '?':
		return nil, errPattern
	default:
		p.groups++
		number = p.groups
	}
	sub, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.accept(")") {
		return nil, errPattern
	}
	if op == reEmpty {
		return p.node(reEmpty)
	}
	n, err := p.node(op, sub)
	if err == nil {
		n.group = number
	}
	return n, err
}

// escape reads what follows a backslash outside brackets.
func (p *reParser) escape() (*reNode, error) {
	if p.pos+1 >= len(p.src) {
		return nil, errPattern
	}
	switch r := p.src[p.pos+1]; {
	case r == 'b' || r == 'B':
		p.pos += 2
		return p.node(reEmpty)
	case r >= '1' && r <= '9':
		p.pos += 2
		n, err := p.node(reBackref)
		if err == nil {
			n.group = int(r - '0')
		}
		return n, err
	case r == 'k' && p.pos+2 < len(p.src) && p.src[p.pos+2] == '<':
		end := p.pos + 3
		for end < len(p.src) && p.src[end] != '>' {
			end++
		}
		name := string(p.src[min(p.pos+3, len(p.src)):end])
		p.pos = min(end+1, len(p.src))
		n, err := p.node(reBackref)
		if err == nil {
			n.group = p.names[name]
		}
		return n, err
	}
	set, err := p.classEscape()
	if err != nil {
		return nil, err
	}
	return p.classNode(set)
}

// bracket reads a character class.
func (p *reParser) bracket() (*reNode, error) {
	p.pos++
	negated := p.accept("^")
	var set runeSet
	for {
		if !p.more() {
			return nil, errPattern
		}
		if p.accept("]") {
			break
		}
		lo, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if p.peek() == '-' && p.pos+1 < len(p.src) && p.src[p.pos+1] != ']' && lo.single() {
			p.pos++
			hi, err := p.classAtom()
			if err != nil {
				return nil, err
			}
			if hi.single() && hi[0].lo >= lo[0].lo {
				set = append(set, runeRange{lo[0].lo, hi[0].lo})
				continue
			}
			set = append(append(set, runeRange{'-', '-'}), hi...)
		}
		set = append(set, lo...)
	}
	set = set.normal()
	if negated {
		set = set.complement()
	}
	return p.classNode(set)
}

func (p *reParser) classAtom() (runeSet, error) {
	if p.peek() == '\\' {
		return p.classEscape()
	}
	r := p.src[p.pos]
	p.pos++
	return runeSet{{r, r}}, nil
}

// classEscape reads an escape that stands for a set of characters.
func (p *reParser) classEscape() (runeSet, error) {
	if p.pos+1 >= len(p.src) {
		return nil, errPattern
	}
	r := p.src[p.pos+1]
	p.pos += 2
	if set, ok := escapes[r]; ok {
		return set, nil
	}
	switch r {
	case 'x':
		return p.hex(2)
	case 'u':
		if p.accept("{") {
			end := p.pos
			for end < len(p.src) && p.src[end] != '}' && end-p.pos < 8 {
				end++
			}
			set, err := p.hex(end - p.pos)
			if err == nil && !p.accept("}") {
				err = errPattern
			}
			return set, err
		}
		return p.hex(4)
	case 'c':
		if !p.more() {
			return nil, errPattern
		}
		c := p.peek() & 0x1f
		p.pos++
		return runeSet{{c, c}}, nil
	case 'p', 'P':
		return p.property(r == 'P')
	}
	return runeSet{{r, r}}, nil
}

func (p *reParser) hex(n int) (runeSet, error) {
	if n <= 0 || p.pos+n > len(p.src) {
		return nil, errPattern
	}
	v, err := strconv.ParseUint(string(p.src[p.pos:p.pos+n]), 16, 32)
	if err != nil || v > unicode.MaxRune {
		return nil, errPattern
	}
	p.pos += n
	return runeSet{{rune(v), rune(v)}}, nil
}

// property reads \p{…}: a general category or a script.
func (p *reParser) property(negated bool) (runeSet, error) {
	if !p.accept("{") {
		return nil, errPattern
	}
	start := p.pos
	for p.more() && p.peek() != '}' {
		p.pos++
	}
	name := string(p.src[start:p.pos])
	if !p.accept("}") {
		return nil, errPattern
	}
	set, ok := propertySetOf(name)
	if !ok {
		return nil, errPattern
	}
	if negated {
		set = set.complement()
	}
	return set, nil
}
