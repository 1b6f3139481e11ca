package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Literals are the strings and numbers that the server's source is written
// with, those first that it compares something with.
type Literals struct {
	Texts []string
	// Numbers are written as in JSON.
	Numbers []string
	// Lengths are those that the length of something is compared with.
	Lengths []int
	// Patterns are the regular expressions that whole texts are compared with.
	Patterns []Pattern `json:",omitempty"`
}

// Pattern is a regular expression of the source, in Go's syntax and without anchors, by the name of
// the constant that holds it or of the variable that is compared with it.
type Pattern struct{ Name, Expression string }

// Empty says that there are none.
func (l *Literals) Empty() bool { return len(l.Texts)+len(l.Numbers)+len(l.Lengths) == 0 }

const (
	maxLiteralTries = 200
	maxTried        = 5_000
	// together is how many literals one text holds where it holds several: what
	// only looks for a part of it is met by each.
	together = 12
)

// sourced draws a text from the source's literals, or of a length next to one
// that the source compares with: mostly the first that was not tried yet.
func (d *drawer) sourced(sh *shape, m *meaning) (string, bool) {
	l := &d.g.opts.Hints.Literals
	if len(l.Texts)+len(l.Lengths) == 0 || !d.chance(m.literalChance(d.g.opts.Hints.Dictionary)) {
		return "", false
	}
	free := len(sh.str.patterns)+len(sh.str.formats) == 0
	if free && len(l.Texts) > 1 && d.bundles() {
		if s := d.several(l.Texts); d.accepts(sh, s) {
			return s, true
		}
	}
	if free && len(l.Lengths) > 0 && (len(l.Texts) == 0 || d.lengthsFirst()) {
		if s, ok := d.ofLength(sh, l.Lengths); ok {
			return s, true
		}
	}
	start := 0
	if d.cover == nil && len(l.Texts) > 1 {
		// Without a record of what was tried, the earlier ones come more often.
		start = min(d.rng.Intn(len(l.Texts)), d.rng.Intn(len(l.Texts)))
	}
	for i := range min(len(l.Texts), maxLiteralTries) {
		s := l.Texts[(start+i)%len(l.Texts)]
		if !d.tried(s) && d.accepts(sh, s) {
			d.use(s)
			return s, true
		}
	}
	return "", false
}

// literalChance is how often in 100 a literal of the source is taken: mostly
// where anything may stand, seldom where the tool would refuse it before it
// comes to what the other arguments say, never where it could lead somewhere.
func (m *meaning) literalChance(known *Dictionary) int {
	switch m.kind {
	case kNone, kProse, kQuery, kName, kTitle, kTag, kToken, kKey, kPerson:
		return 92
	case kID:
		if len(known.strings(m)) > 0 {
			return 20
		}
		return 92
	}
	if m.guarded() || m.placed() {
		return 0
	}
	return 35
}

// bundles says whether this value holds several literals at once: every fourth
// does, where they are counted.
func (d *drawer) bundles() bool {
	if d.cover != nil {
		return d.cover.turn%4 == 3
	}
	return d.chance(20)
}

// lengthsFirst says whether a length is tried before a text: in every fourth
// value, where they are counted.
func (d *drawer) lengthsFirst() bool {
	if d.cover != nil {
		return d.cover.turn%4 == 1
	}
	return d.chance(25)
}

// tried says that a literal was given before, in this value or an earlier one.
func (d *drawer) tried(s string) bool {
	return slices.Contains(d.literals, s) || (d.cover != nil && d.cover.tried[s])
}

func (d *drawer) use(s string) { d.literals = append(d.literals, s) }

// several joins literals that lie beside each other in the list.
func (d *drawer) several(texts []string) string {
	start := d.rng.Intn(len(texts)) / together * together
	return strings.Join(texts[start:min(start+together, len(texts))], " ")
}

func (d *drawer) ofLength(sh *shape, lengths []int) (string, bool) {
	for _, n := range lengths[:min(len(lengths), maxLiteralTries)] {
		for _, k := range []int{n + 1, n, n - 1} {
			mark := lengthMark(k)
			if k < max(sh.str.min, 1) || k > min(sh.str.max, maxTextEver) || d.tried(mark) {
				continue
			}
			d.use(mark)
			s := strings.Repeat(sentences[0]+" ", k/(len(sentences[0])+1)+1)[:k]
			return s, d.accepts(sh, s)
		}
	}
	return "", false
}

func lengthMark(n int) string { return "\x00length " + strconv.Itoa(n) }

// sourcedNumber draws a number that the source compares with, or the next to it.
func (d *drawer) sourcedNumber(n *numeric, m *meaning, t typeSet) (json.Number, bool) {
	for _, s := range d.g.opts.Hints.Literals.Numbers[:min(len(d.g.opts.Hints.Literals.Numbers), maxLiteralTries)] {
		r, ok := ratText(s)
		if !ok || !m.affordable(r) {
			continue
		}
		for _, off := range []int64{0, 1, -1} {
			x := new(big.Rat).Add(r, big.NewRat(off, 1))
			v, ok := number(x)
			if !ok || !n.allows(x) || (t == tInteger && !x.IsInt()) || d.tried(string(v.(json.Number))) {
				continue
			}
			d.use(string(v.(json.Number)))
			return v.(json.Number), true
		}
	}
	return "", false
}

// try remembers the texts and numbers of a value that was given.
func (c *Coverage) try(v any) {
	if len(c.tried) >= maxTried {
		return
	}
	switch v := v.(type) {
	case string:
		c.tried[v] = true
		c.tried[lengthMark(len([]rune(v)))] = true
	case json.Number:
		c.tried[string(v)] = true
	}
}

// Untried counts the literals of the source, among the first n of each kind,
// that no value held yet.
func (c *Coverage) Untried(n int) int {
	l := &c.g.opts.Hints.Literals
	left := 0
	for _, s := range l.Texts[:min(n, len(l.Texts))] {
		if !c.tried[s] {
			left++
		}
	}
	for _, s := range l.Numbers[:min(n, len(l.Numbers))] {
		r, ok := ratText(s)
		if !ok {
			continue
		}
		next, ok := number(r.Add(r, big.NewRat(1, 1)))
		if !c.tried[s] || ok && !c.tried[string(next.(json.Number))] {
			left++
		}
	}
	for _, k := range l.Lengths[:min(n, len(l.Lengths))] {
		if !c.tried[lengthMark(k+1)] {
			left++
		}
	}
	return left
}

// Open says that a parameter takes texts, numbers, or what may hold them: where
// none does, no literal can be tried.
func (c *Coverage) Open() bool {
	return slices.ContainsFunc(c.params, func(p parameter) bool {
		return slices.ContainsFunc(p.levels, func(l string) bool {
			return slices.Contains([]string{"string", "integer", "number", "array", "object", "given"}, l)
		})
	})
}
