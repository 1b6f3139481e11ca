package schema

import (
	"math/rand"
	"strings"
	"time"

	"github.com/leanovate/gopter"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// drawer is one Draw under way.
type drawer struct {
	g        *Generator
	p        *gopter.GenParameters
	rng      *rand.Rand
	class    Class
	steps    int
	bytes    int
	deadline time.Time
	late     bool
	ticks    int
	left     int    // the nesting that is left where the next pick is made
	minimal  bool   // only what is required
	one      string // the file that this call works on
	used     bool
	retries  int            // parts that may still be drawn again
	ends     map[string]int // where each dynamic reference leads
	wander   bool           // a dynamic reference leads elsewhere each time
	literals []string       // those of the source that this value holds
	cover    *Coverage      // what is still to be reached; nil for nothing
}

// look reads the clock.
func (d *drawer) look() {
	d.late = d.late || time.Now().After(d.deadline)
}

// exhausted says that the bounds of one Draw are used up.
func (d *drawer) exhausted() bool {
	if d.ticks++; d.ticks&63 == 0 {
		d.look()
	}
	return d.late || d.steps > maxSteps || d.bytes > maxBytes || d.g.re.exhausted()
}

func (d *drawer) typical() bool { return d.class < Valid }

// chance is true in n of 100 draws.
func (d *drawer) chance(n int) bool { return d.rng.Intn(100) < n }

// pick chooses an alternative that fits the types known so far and the depth that is left.
func (d *drawer) pick(options []*jsonschema.Schema, running typeSet) int {
	fits := make([]int, 0, len(options))
	for i, s := range options {
		if d.g.graph.h(s) <= d.left && d.broadTypes(s, 0)&running != 0 {
			fits = append(fits, i)
		}
	}
	if len(fits) == 0 {
		return d.rng.Intn(len(options))
	}
	if best := d.unreached(options, fits); best != nil {
		return best[d.rng.Intn(len(best))]
	}
	if d.minimal {
		fits = d.flattest(options, fits)
	}
	if d.typical() && len(fits) > 1 && d.chance(90) {
		fits = d.notNull(options, fits)
	}
	return fits[d.rng.Intn(len(fits))]
}

// unreached are the alternatives that lead to something that is still to be
// reached, mostly; those that were never taken come first.
func (d *drawer) unreached(options []*jsonschema.Schema, fits []int) []int {
	if d.cover == nil || d.chance(25) {
		return nil
	}
	var never, hot []int
	for _, i := range fits {
		if d.cover.missing(point{of: branchPoint, s: options[i]}) {
			never = append(never, i)
		}
		if d.cover.hot[options[i]] {
			hot = append(hot, i)
		}
	}
	if never != nil {
		return never
	}
	return hot
}

func (d *drawer) pickIf(*jsonschema.Schema) int { return d.rng.Intn(2) }

func (d *drawer) pickProperty(string) int { return d.rng.Intn(2) }

func (d *drawer) pickEnd(name string, ends []*jsonschema.Schema) int {
	if i, ok := d.ends[name]; ok && !d.wander {
		return i
	}
	i := d.rng.Intn(len(ends))
	if d.ends == nil {
		d.ends = map[string]int{}
	}
	d.ends[name] = i
	return i
}

func (d *drawer) flattest(options []*jsonschema.Schema, fits []int) []int {
	least := infinite
	for _, i := range fits {
		least = min(least, d.g.graph.h(options[i]))
	}
	var out []int
	for _, i := range fits {
		if d.g.graph.h(options[i]) == least {
			out = append(out, i)
		}
	}
	return out
}

// notNull leaves the alternatives that are more than null.
func (d *drawer) notNull(options []*jsonschema.Schema, fits []int) []int {
	var out []int
	for _, i := range fits {
		if d.broadTypes(options[i], 0) != tNull {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return fits
	}
	return out
}

// broadTypes are the types that s allows, as far as is cheap to say.
func (d *drawer) broadTypes(s *jsonschema.Schema, depth int) typeSet {
	t := d.g.graph.types(s)
	if depth > 4 {
		return t
	}
	if s.Ref != nil {
		t &= d.broadTypes(s.Ref, depth+1)
	}
	for i, a := range s.AllOf {
		if i > 8 {
			break
		}
		t &= d.broadTypes(a, depth+1)
	}
	return t
}

// node draws a value for a set of schemas. False means that none was found
// with these choices; the caller may try again.
func (d *drawer) node(n *node, m *meaning, depth int) (any, bool) {
	tries := 1
	for try := 0; try < tries; try++ {
		d.steps++
		if try > 0 {
			d.retries--
		}
		if d.exhausted() || depth > d.g.depth || d.retries < 0 {
			return nil, false
		}
		d.left = d.g.depth - depth
		d.minimal = (depth >= softHeight && !d.cover.wanted(n.set)) || d.bytes > maxBytes/8
		sh := d.g.shapeOf(n, d)
		if n.choice || sh.sieve {
			tries = 24
		}
		if sh.dead {
			continue
		}
		v, ok := d.value(sh, m, depth)
		if !ok {
			continue
		}
		if sh.sieve && depth > 0 && n.local {
			d.steps += 8
			d.look()
			if !d.g.holds(n.set, v) {
				continue
			}
		}
		return v, true
	}
	return nil, false
}

// value draws from one shape.
func (d *drawer) value(sh *shape, m *meaning, depth int) (any, bool) {
	if sh.isFixed {
		return d.fixed(sh, m)
	}
	if d.typical() && len(sh.examples) > 0 {
		if examples := m.usable(sh.examples); len(examples) > 0 && d.chance(m.exampleChance(d.class)) {
			return examples[d.rng.Intn(len(examples))], true
		}
	}
	types := sh.types
	if depth == 0 && d.g.opts.Object {
		types &= tObject
	}
	switch t := d.chooseType(sh, types, m, depth); t {
	case tNull:
		return nil, true
	case tBoolean:
		return d.boolean(m), true
	case tInteger, tNumber:
		return d.number(sh, m, t)
	case tString:
		return d.text(sh, m)
	case tArray:
		return d.array(sh, m, depth)
	case tObject:
		return d.object(sh, m, depth)
	}
	return nil, false
}

func (d *drawer) fixed(sh *shape, m *meaning) (any, bool) {
	if len(sh.fixed) == 0 {
		return nil, false
	}
	if v, ok := d.plainMember(sh, m); ok {
		return v, true
	}
	if v, ok := d.unreachedMember(sh); ok {
		return v, true
	}
	if d.class == Boundary && d.chance(50) {
		return sh.fixed[d.rng.Intn(2)*(len(sh.fixed)-1)], true
	}
	v := sh.fixed[d.rng.Intn(len(sh.fixed))]
	if v == nil && d.typical() {
		v = sh.fixed[d.rng.Intn(len(sh.fixed))]
	}
	return v, true
}

// plainMember is the member of an enum that the property's meaning names first: of
// the languages that code may be in, one that is likely to be here.
func (d *drawer) plainMember(sh *shape, m *meaning) (any, bool) {
	if d.class != TypicalRequired && d.class != Learned || len(sh.fixed) > 500 {
		return nil, false
	}
	for _, plain := range m.values {
		for _, v := range sh.fixed {
			if s, ok := v.(string); ok && strings.EqualFold(s, plain) {
				return v, true
			}
		}
	}
	return nil, false
}

// unreachedMember draws a member of an enum that no value had yet, mostly.
func (d *drawer) unreachedMember(sh *shape) (any, bool) {
	if d.cover == nil || !d.cover.wanted(sh.conj) || d.chance(20) {
		return nil, false
	}
	start := d.rng.Intn(len(sh.fixed))
	for i := range min(len(sh.fixed), 500) {
		v := sh.fixed[(start+i)%len(sh.fixed)]
		k := key(v)
		for _, s := range sh.conj {
			if s.Enum != nil && d.cover.missing(point{enumPoint, s, k}) {
				return v, true
			}
		}
	}
	return nil, false
}

// chooseType picks one type of those allowed.
func (d *drawer) chooseType(sh *shape, types typeSet, m *meaning, depth int) typeSet {
	if t := sh.hinted & types; t != 0 && types == allTypes && (d.typical() || d.chance(80)) {
		types = t
	}
	if d.minimal && types&^(tObject|tArray) != 0 {
		types &^= tObject | tArray
	}
	if depth >= d.g.depth && types&^tObject != 0 && types&tObject != 0 {
		types &^= tObject
	}
	if !d.typical() {
		return d.anyType(types)
	}
	if types == allTypes {
		return m.likelyType()
	}
	if t := types &^ tNull; t != 0 && d.chance(90) {
		types = t
	}
	if d.chance(25) {
		return d.anyType(types)
	}
	for _, t := range listTypes {
		if types&t != 0 {
			return t
		}
	}
	return 0
}

func (d *drawer) anyType(types typeSet) typeSet {
	var list [7]typeSet
	n := 0
	for _, t := range listTypes {
		if types&t != 0 {
			list[n] = t
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return list[d.rng.Intn(n)]
}

func (d *drawer) boolean(m *meaning) bool {
	if d.typical() {
		if v, ok := m.boolean(); ok {
			return v
		}
	}
	return d.p.NextBool()
}
