package schema

import (
	"math/rand"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is an expression that can be matched and, where it was understood,
// written to.
type pattern struct {
	match  jsonschema.Regexp
	tree   *reNode // nil: not understood
	aheads []*reNode
}

// pattern returns the one pattern of an expression.
func (g *Generator) pattern(re jsonschema.Regexp) *pattern {
	text := re.String()
	if p, ok := g.patterns[text]; ok {
		return p
	}
	p := &pattern{match: re}
	if tree, err := parseRegexp(text); err == nil {
		p.tree = tree
		tree.each(func(n *reNode) {
			if n.op == reAhead {
				p.aheads = append(p.aheads, n.subs[0])
			}
		})
	}
	g.patterns[text] = p
	return p
}

func (n *reNode) each(f func(*reNode)) {
	f(n)
	for _, s := range n.subs {
		s.each(f)
	}
}

// measure finds the shortest length of every part, saturating.
func (n *reNode) measure() int {
	total := 0
	for i, s := range n.subs {
		m := s.measure()
		switch n.op {
		case reAlt:
			if i == 0 || m < total {
				total = m
			}
		case reRepeat:
			if m > 0 && n.min > unbounded/m {
				total = unbounded
			} else {
				total = m * n.min
			}
		case reAhead:
		default:
			total = min(total+m, unbounded)
		}
	}
	if n.op == reClass {
		total = 1
	}
	n.least = total
	return total
}

// writer writes one text that matches a parsed expression.
type writer struct {
	rng    *rand.Rand
	out    []rune
	extra  int // characters beyond the shortest text that may still be spent
	groups map[int]string
	wide   bool // characters beyond the printable ones
	greedy bool // spend all of extra at the first chance
	fail   bool
	steps  int
}

const maxWriteSteps = 12 * maxTextEver

func (w *writer) node(n *reNode) {
	w.steps++
	if w.fail || len(w.out) > maxTextEver || w.steps > maxWriteSteps {
		w.fail = true
		return
	}
	switch n.op {
	case reClass:
		w.class(n.class)
	case reCat:
		for _, s := range n.subs {
			w.node(s)
		}
	case reAlt:
		w.alternative(n)
	case reRepeat:
		w.repeat(n)
	case reGroup:
		start := len(w.out)
		w.node(n.subs[0])
		if n.group > 0 && !w.fail {
			if w.groups == nil {
				w.groups = map[int]string{}
			}
			w.groups[n.group] = string(w.out[start:])
		}
	case reBackref:
		w.out = append(w.out, []rune(w.groups[n.group])...)
	}
}

func (w *writer) class(set runeSet) {
	if !w.wide {
		for _, preferred := range []runeSet{alnum, printable} {
			if s := set.within(preferred); len(s) > 0 {
				set = s
				break
			}
		}
	}
	r, ok := set.draw(w.rng)
	if !ok {
		w.fail = true
		return
	}
	w.out = append(w.out, r)
}

func (w *writer) alternative(n *reNode) {
	fits := make([]*reNode, 0, len(n.subs))
	for _, s := range n.subs {
		if s.least-n.least <= w.extra {
			fits = append(fits, s)
		}
	}
	if len(fits) == 0 {
		w.fail = true
		return
	}
	s := fits[w.rng.Intn(len(fits))]
	w.extra -= s.least - n.least
	w.node(s)
}

func (w *writer) repeat(n *reNode) {
	if n.min > maxTextEver {
		w.fail = true
		return
	}
	for range n.min {
		w.node(n.subs[0])
		if w.fail {
			return
		}
	}
	cost := max(n.subs[0].least, 1)
	most := min(n.max-n.min, w.extra/cost)
	if most <= 0 {
		return
	}
	k := most
	if !w.greedy {
		k = w.rng.Intn(most + 1)
	}
	for range k {
		if w.extra < cost || w.fail {
			return
		}
		w.extra -= n.subs[0].least
		if n.subs[0].least == 0 {
			w.extra--
		}
		w.node(n.subs[0])
	}
}

// write makes one text of between lo and hi characters; not every text it
// makes matches, nor has that length.
func (p *pattern) write(rng *rand.Rand, lo, hi int, class Class, try int) (string, bool) {
	if p.tree == nil || p.tree.least > hi || p.tree.least > maxTextEver {
		return "", false
	}
	room := min(hi, max(lo, p.tree.least+8)) - p.tree.least
	need := max(0, lo-p.tree.least)
	w := writer{rng: rng, extra: room, wide: class == Valid && try%3 == 2, greedy: try%2 == 1}
	if room > need && !w.greedy {
		w.extra = need + rng.Intn(room-need+1)
	}
	w.node(p.tree)
	if w.fail {
		return "", false
	}
	if try%4 != 0 {
		p.satisfyAheads(&w)
	}
	for len(w.out) < lo {
		r, _ := lower.draw(rng)
		w.out = append(w.out, r)
	}
	return string(w.out), true
}

// satisfyAheads plants what a lookahead asks for somewhere in the text, as in
// the common demand for a digit and a capital.
func (p *pattern) satisfyAheads(w *writer) {
	for _, a := range p.aheads {
		if len(w.out) == 0 {
			return
		}
		piece := writer{rng: w.rng}
		piece.node(a)
		if piece.fail || len(piece.out) == 0 || len(piece.out) > len(w.out) {
			continue
		}
		at := w.rng.Intn(len(w.out) - len(piece.out) + 1)
		w.out = slices.Replace(w.out, at, at+len(piece.out), piece.out...)
	}
}
