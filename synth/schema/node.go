package schema

import (
	"sort"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxNodes   = 20_000 // distinct sets of schemas kept
	maxShapes  = 256    // alternatives of one node kept
	maxChoices = 64     // alternatives decided for one value; the rest are left to the judge
	maxConj    = 512    // schemas merged for one value
)

// node is a set of schemas that one value must satisfy together.
type node struct {
	id     int
	set    []*jsonschema.Schema
	plain  *shape // the only shape, where nothing is to be chosen
	choice bool
	object bool // only objects will do, whatever the schemas allow
	local  bool // the judge may be asked about the set alone
	shapes map[string]*shape
}

// nodeFor returns the one node of a set.
func (g *Generator) nodeFor(set []*jsonschema.Schema) *node {
	set = g.ordered(set)
	k := g.setKey(set)
	if n, ok := g.nodes[k]; ok {
		return n
	}
	n := &node{id: len(g.nodes), set: set, shapes: map[string]*shape{}, local: g.graph.local(set)}
	if len(g.nodes) < maxNodes {
		g.nodes[k] = n
	}
	return n
}

// ordered sorts a set as the graph does and drops what says nothing.
func (g *Generator) ordered(set []*jsonschema.Schema) []*jsonschema.Schema {
	out := make([]*jsonschema.Schema, 0, len(set))
	seen := make(map[*jsonschema.Schema]bool, len(set))
	for _, s := range set {
		if s == nil || seen[s] || (s.Bool != nil && *s.Bool) {
			continue
		}
		seen[s] = true
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return g.graph.at(out[i]) < g.graph.at(out[j]) })
	return out
}

func (g *Generator) setKey(set []*jsonschema.Schema) string {
	b := make([]byte, 0, len(set)*4)
	for _, s := range set {
		b = strconv.AppendInt(b, int64(g.graph.at(s)), 36)
		b = append(b, '.')
	}
	return string(b)
}

// picker decides between alternatives; limit is the depth that is left.
type picker interface {
	pick(options []*jsonschema.Schema, running typeSet) int
	// pickIf is 0 where the condition is to hold, else 1.
	pickIf(condition *jsonschema.Schema) int
	// pickProperty is 0 where a property is to be left out, else 1.
	pickProperty(name string) int
	// pickEnd is the same for each use of a name in one value.
	pickEnd(name string, ends []*jsonschema.Schema) int
}

// resolver merges a node's schemas, deciding each alternative on the way.
type resolver struct {
	g       *Generator
	by      picker
	queue   []*jsonschema.Schema
	seen    map[*jsonschema.Schema]bool
	conj    []*jsonschema.Schema
	pending []*jsonschema.Schema // those with alternatives
	running typeSet
	require []string
	forbid  []string
	key     []byte
	choices int
	sieve   bool
}

func (g *Generator) resolve(n *node, by picker) *resolver {
	r := &resolver{g: g, by: by, queue: append([]*jsonschema.Schema(nil), n.set...),
		seen: make(map[*jsonschema.Schema]bool, len(n.set)*2), running: allTypes}
	if n.object {
		r.running = tObject
	}
	for len(r.queue) > 0 || len(r.pending) > 0 {
		if len(r.queue) > 0 {
			s := r.queue[0]
			r.queue = r.queue[1:]
			r.add(s)
			continue
		}
		s := r.pending[0]
		r.pending = r.pending[1:]
		r.resolveAlternatives(s)
	}
	return r
}

// add merges s and what it refers to unconditionally.
func (r *resolver) add(s *jsonschema.Schema) {
	if s == nil || r.seen[s] {
		return
	}
	if len(r.conj) >= maxConj {
		r.sieve = true
		return
	}
	r.seen[s] = true
	r.conj = append(r.conj, s)
	r.running &= r.g.graph.types(s)
	r.queue = append(r.queue, s.Ref)
	if _, plain, _ := dynamicName(s); plain != nil {
		r.dynamicRef(s, plain)
	}
	r.queue = append(r.queue, s.AllOf...)
	if s.Not != nil || s.UnevaluatedItems != nil || s.UnevaluatedProperties != nil {
		r.sieve = true
	}
	if hasChoice(s) {
		r.pending = append(r.pending, s)
	}
}

// dynamicRef takes one of the schemas that a dynamic reference may lead to.
func (r *resolver) dynamicRef(s, plain *jsonschema.Schema) {
	name, ends := r.g.graph.endsOf(s)
	if ends == nil {
		r.queue = append(r.queue, plain)
		return
	}
	i := r.by.pickEnd(name, ends)
	r.chose(i)
	r.queue = append(r.queue, ends[i])
}

func hasChoice(s *jsonschema.Schema) bool {
	return len(s.AnyOf) > 0 || len(s.OneOf) > 0 || s.If != nil || s.Not != nil || len(s.DependentSchemas) > 0 || len(s.Dependencies) > 0
}

// resolveAlternatives decides the alternatives of s.
func (r *resolver) resolveAlternatives(s *jsonschema.Schema) {
	if r.choices >= maxChoices {
		r.sieve = true
		return
	}
	for _, options := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(options) == 0 {
			continue
		}
		i := r.by.pick(options, r.running)
		r.chose(i)
		r.queue = append(r.queue, options[i])
	}
	if len(s.OneOf) > 1 {
		r.sieve = true
	}
	if s.If != nil && (s.Then != nil || s.Else != nil) {
		r.condition(s)
	}
	if s.Not != nil {
		r.oppose(s.Not)
	}
	for _, name := range sortedKeys(s.DependentSchemas) {
		r.dependent(name, s.DependentSchemas[name])
	}
	for _, name := range sortedKeys(s.Dependencies) {
		if t, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			r.dependent(name, t)
		}
	}
}

// oppose takes one of the ways in which s does not hold; that it does not is left to the judge.
func (r *resolver) oppose(s *jsonschema.Schema) {
	r.sieve = true
	options := r.g.graph.negated[s]
	switch len(options) {
	case 0:
	case 1:
		r.queue = append(r.queue, options[0])
	default:
		i := r.by.pick(options, r.running)
		r.chose(i)
		r.queue = append(r.queue, options[i])
	}
}

// condition takes one side of an if.
func (r *resolver) condition(s *jsonschema.Schema) {
	i := r.by.pickIf(s.If)
	r.chose(i)
	if i == 0 {
		r.queue = append(r.queue, s.If, s.Then)
		return
	}
	r.queue = append(r.queue, s.Else)
	r.oppose(s.If)
}

// dependent takes a property together with the schema that it brings, or leaves it out.
func (r *resolver) dependent(name string, s *jsonschema.Schema) {
	i := r.by.pickProperty(name)
	r.chose(i)
	if i == 0 {
		r.forbid = append(r.forbid, name)
		return
	}
	r.require = append(r.require, name)
	r.queue = append(r.queue, s)
}

func (r *resolver) chose(i int) {
	r.choices++
	r.key = strconv.AppendInt(r.key, int64(i), 36)
	r.key = append(r.key, '.')
}

// first is the picker that notices whether anything was to be picked.
type first struct{}

func (first) pick([]*jsonschema.Schema, typeSet) int { return 0 }
func (first) pickIf(*jsonschema.Schema) int          { return 0 }
func (first) pickProperty(string) int                { return 0 }

func (first) pickEnd(string, []*jsonschema.Schema) int { return 0 }

// fitting is the picker that takes the alternatives which a value satisfies.
type fitting struct {
	g *Generator
	v any
}

func (f fitting) pick(options []*jsonschema.Schema, _ typeSet) int {
	for i, s := range options {
		if f.g.judge(s, f.v) {
			return i
		}
	}
	return 0
}

func (f fitting) pickIf(condition *jsonschema.Schema) int {
	if f.g.judge(condition, f.v) {
		return 0
	}
	return 1
}

func (f fitting) pickProperty(name string) int {
	if m, ok := f.v.(map[string]any); ok {
		if _, present := m[name]; present {
			return 1
		}
	}
	return 0
}

func (f fitting) pickEnd(_ string, ends []*jsonschema.Schema) int { return f.pick(ends, allTypes) }

// shapeOf returns the shape of n under the picker's choices. It is the same
// for the same choices, whether it was kept or not.
func (g *Generator) shapeOf(n *node, by picker) *shape {
	if n.plain != nil {
		return n.plain
	}
	if !n.choice {
		r := g.resolve(n, first{})
		if r.choices == 0 {
			n.plain = g.newShape(n, r)
			return n.plain
		}
		n.choice = true
	}
	r := g.resolve(n, by)
	if sh, ok := n.shapes[string(r.key)]; ok {
		return sh
	}
	sh := g.newShape(n, r)
	if len(n.shapes) < maxShapes {
		n.shapes[string(r.key)] = sh
	}
	return sh
}
