package schema

import (
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxFixed     = 20_000  // enum members considered
	maxCompared  = 400_000 // comparisons to sort out beforehand those that are not allowed
	maxExamples  = 16
	maxNamed     = 4_000 // properties considered
	maxItemsEver = 4_000
	maxTextEver  = 1 << 16
	unbounded    = 1 << 30
)

// shape is what a set of schemas asks of one value once every alternative is
// decided: a conjunction, merged.
type shape struct {
	conj     []*jsonschema.Schema
	types    typeSet
	hinted   typeSet
	fixed    []any // the only values allowed, where isFixed
	isFixed  bool
	examples []any
	sieve    bool // the judge must see the value before it is used
	dead     bool // no value at all

	num *numeric
	str *textual
	arr *arrayShape
	obj *objectShape
}

// newShape merges what the resolver collected.
func (g *Generator) newShape(n *node, r *resolver) *shape {
	sh := &shape{conj: r.conj, types: r.running, sieve: r.sieve}
	for _, s := range r.conj {
		sh.hinted |= hinted(s)
		if s.Not != nil && s.Not.Bool != nil && *s.Not.Bool {
			sh.dead = true
		}
	}
	sh.hinted &= sh.types
	g.mergeFixed(sh)
	g.collectExamples(sh)
	if sh.types&(tNumber|tInteger) != 0 {
		sh.num = mergeNumeric(sh)
		if sh.num.empty() {
			sh.types &^= tNumber | tInteger
		}
	}
	if sh.types&tString != 0 {
		sh.str = g.mergeTextual(sh)
		if sh.str.empty() {
			sh.types &^= tString
		}
	}
	if sh.types&tArray != 0 {
		sh.arr = g.mergeArray(sh)
		if sh.arr.minimum > sh.arr.maximum || sh.arr.minimum > maxItemsEver {
			sh.types &^= tArray
		}
	}
	if sh.types&tObject != 0 {
		sh.obj = g.mergeObject(sh, r)
		if sh.obj.dead {
			sh.types &^= tObject
		}
	}
	if sh.types == 0 || (sh.isFixed && len(sh.fixed) == 0) {
		sh.dead = true
	}
	sh.hinted &= sh.types
	return sh
}

// mergeFixed intersects enums and constants.
func (g *Generator) mergeFixed(sh *shape) {
	compared := 0
	for _, s := range sh.conj {
		var values []any
		switch {
		case s.Const != nil:
			values = []any{*s.Const}
			compared++
		case s.Enum != nil:
			values = s.Enum.Values
			compared += len(values)
		default:
			continue
		}
		if !sh.isFixed || len(values) < len(sh.fixed) {
			sh.isFixed = true
			sh.fixed = values[:min(len(values), maxFixed)]
		}
	}
	if !sh.isFixed {
		return
	}
	if len(sh.fixed)*compared > maxCompared {
		sh.sieve = true
		return
	}
	var kept []any
	for _, v := range sh.fixed {
		if g.holds(sh.conj, v) {
			kept = append(kept, v)
		}
	}
	sh.fixed = kept
}

// holds asks the judge whether v satisfies each schema of a conjunction.
func (g *Generator) holds(conj []*jsonschema.Schema, v any) bool {
	for _, s := range conj {
		if !g.judge(s, v) {
			return false
		}
	}
	return true
}

// collectExamples keeps the declared examples and defaults that are valid.
func (g *Generator) collectExamples(sh *shape) {
	add := func(v any) {
		if len(sh.examples) < maxExamples && v != nil && v != "" && g.holds(sh.conj, v) {
			sh.examples = append(sh.examples, v)
		}
	}
	for _, s := range sh.conj {
		for _, v := range s.Examples {
			add(v)
		}
		if s.Default != nil {
			add(*s.Default)
		}
	}
}

// numeric is the range of a number.
type numeric struct {
	min, max        *big.Rat // nil: open
	exMin, exMax    bool
	step            *big.Rat // nil: any
	whole           bool
	low, high       int64 // the same as whole numbers, saturated
	impossible      bool
	simple          bool // low and high are exact and the step is 1 or none
	hasLow, hasHigh bool
}

func mergeNumeric(sh *shape) *numeric {
	n := &numeric{whole: sh.types&tNumber == 0}
	for _, s := range sh.conj {
		n.lower(s.Minimum, false)
		n.lower(s.ExclusiveMinimum, true)
		n.upper(s.Maximum, false)
		n.upper(s.ExclusiveMaximum, true)
		if s.MultipleOf != nil && s.MultipleOf.Sign() > 0 {
			n.multiple(s.MultipleOf)
		}
	}
	if n.whole {
		n.multiple(big.NewRat(1, 1))
	}
	n.finish()
	return n
}

func (n *numeric) lower(r *big.Rat, exclusive bool) {
	if r == nil {
		return
	}
	if n.min == nil || r.Cmp(n.min) > 0 || (r.Cmp(n.min) == 0 && exclusive) {
		n.min, n.exMin = r, exclusive
	}
}

func (n *numeric) upper(r *big.Rat, exclusive bool) {
	if r == nil {
		return
	}
	if n.max == nil || r.Cmp(n.max) < 0 || (r.Cmp(n.max) == 0 && exclusive) {
		n.max, n.exMax = r, exclusive
	}
}

// multiple takes the least common multiple of the steps.
func (n *numeric) multiple(m *big.Rat) {
	if n.step == nil {
		n.step = m
		return
	}
	gcd := new(big.Int).GCD(nil, nil, n.step.Num(), m.Num())
	num := new(big.Int).Mul(n.step.Num(), new(big.Int).Quo(m.Num(), gcd))
	den := new(big.Int).GCD(nil, nil, n.step.Denom(), m.Denom())
	n.step = new(big.Rat).SetFrac(num, den)
}

// textual is what is asked of a string.
type textual struct {
	min, max   int
	patterns   []*pattern
	formats    []string // those that the judge checks
	loose      string   // a format that the judge does not know
	impossible bool
}

func (t *textual) empty() bool { return t.impossible || t.min > t.max || t.min > maxTextEver }

func (g *Generator) mergeTextual(sh *shape) *textual {
	t := &textual{max: unbounded}
	for _, s := range sh.conj {
		if s.MinLength != nil {
			t.min = max(t.min, *s.MinLength)
		}
		if s.MaxLength != nil {
			t.max = min(t.max, *s.MaxLength)
		}
		if s.Pattern != nil {
			t.patterns = append(t.patterns, g.pattern(s.Pattern))
		}
		switch {
		case s.Format != nil:
			if !slices.Contains(t.formats, s.Format.Name) {
				t.formats = append(t.formats, s.Format.Name)
			}
		case t.loose == "":
			t.loose, _ = g.raw(s, "format").(string)
		}
	}
	return t
}

// raw is a keyword of s as it was declared.
func (g *Generator) raw(s *jsonschema.Schema, keyword string) any {
	const prefix = schemaURL + "#"
	if len(s.Location) < len(prefix) || s.Location[:len(prefix)] != prefix {
		return nil
	}
	v, ok := lookup(g.doc, s.Location[len(prefix):])
	if !ok {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	return m[keyword]
}
