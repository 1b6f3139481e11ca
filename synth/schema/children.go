package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// property is a named property that may be drawn.
type property struct {
	name     string
	required bool
	node     *node
	meaning  *meaning
	height   int
}

// objectShape is what is asked of an object.
type objectShape struct {
	min, max  int
	props     []property
	names     []string // the names in props
	depends   map[string][]string
	open      bool // names beyond those of props are allowed
	extra     *node
	nameNode  *node // what such a name must satisfy, nil for anything
	patterns  []patterned
	forbidden map[string]bool
	dead      bool
}

func (g *Generator) mergeObject(sh *shape, r *resolver) *objectShape {
	o := &objectShape{max: unbounded, open: true, forbidden: set(r.forbid...)}
	names := map[string]bool{}
	required := set(r.require...)
	var nameSet, extra []*jsonschema.Schema
	for _, s := range sh.conj {
		if s.MinProperties != nil {
			o.min = max(o.min, *s.MinProperties)
		}
		if s.MaxProperties != nil {
			o.max = min(o.max, *s.MaxProperties)
		}
		for _, name := range s.Required {
			required[name] = true
		}
		for name := range s.Properties {
			if len(names) < maxNamed {
				names[name] = true
			}
		}
		nameSet = append(nameSet, s.PropertyNames)
		o.patterns = append(o.patterns, patternsOf(s)...)
		extra = append(extra, o.additional(s)...)
		o.mergeDepends(s)
	}
	for name := range required {
		names[name] = true
	}
	if len(g.ordered(nameSet)) > 0 {
		o.nameNode = g.nodeFor(nameSet)
	}
	o.extra = g.nodeFor(extra)
	g.addProperties(sh, o, sortedKeys(names), required)
	if o.min > o.max || o.min > maxItemsEver || len(required) > o.max {
		o.dead = true
	}
	return o
}

// additional are the schemas of names that s does not know.
func (o *objectShape) additional(s *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	switch v := s.AdditionalProperties.(type) {
	case bool:
		o.open = o.open && v
	case *jsonschema.Schema:
		if v.Bool != nil && !*v.Bool {
			o.open = false
		}
		out = append(out, v)
	}
	if u := s.UnevaluatedProperties; u != nil {
		if u.Bool != nil && !*u.Bool {
			o.open = false
		}
		out = append(out, u)
	}
	return out
}

func (o *objectShape) mergeDepends(s *jsonschema.Schema) {
	add := func(name string, list []string) {
		if o.depends == nil {
			o.depends = map[string][]string{}
		}
		o.depends[name] = append(o.depends[name], list...)
	}
	for name, list := range s.DependentRequired {
		add(name, list)
	}
	for name, v := range s.Dependencies {
		if list, ok := v.([]string); ok {
			add(name, list)
		}
	}
}

func (g *Generator) addProperties(sh *shape, o *objectShape, names []string, required map[string]bool) {
	for _, name := range names {
		set, ok := propertySet(sh.conj, name)
		if ok && o.nameNode != nil {
			ok = g.holds(o.nameNode.set, name)
		}
		if ok && !o.forbidden[name] {
			n := g.nodeFor(set)
			o.props = append(o.props, property{name: name, required: required[name], node: n,
				meaning: g.meaningOf(name, n), height: g.setHeight(n.set)})
			o.names = append(o.names, name)
			continue
		}
		o.forbidden[name] = true
		if required[name] {
			o.dead = true
		}
	}
}

// setHeight is the nesting that a set of schemas asks for at least.
func (g *Generator) setHeight(set []*jsonschema.Schema) int {
	h := 0
	for _, s := range set {
		h = max(h, g.graph.h(s))
	}
	return h
}

// propertySet are the schemas that apply to the property called name; false
// where one of the conjunction forbids it.
func propertySet(conj []*jsonschema.Schema, name string) ([]*jsonschema.Schema, bool) {
	var out []*jsonschema.Schema
	for _, s := range conj {
		known := false
		if t, ok := s.Properties[name]; ok {
			known = true
			out = append(out, t)
		}
		for re, t := range s.PatternProperties {
			if re.MatchString(name) {
				known = true
				out = append(out, t)
			}
		}
		if known {
			continue
		}
		switch v := s.AdditionalProperties.(type) {
		case bool:
			if !v {
				return nil, false
			}
		case *jsonschema.Schema:
			out = append(out, v)
		}
	}
	for _, s := range out {
		if s.Bool != nil && !*s.Bool {
			return nil, false
		}
	}
	return out, true
}

// arrayShape is what is asked of an array.
type arrayShape struct {
	minimum, maximum int
	unique           bool
	prefix           []*node
	prefixSets       [][]*jsonschema.Schema
	rest             *node
	restSet          []*jsonschema.Schema
	contains         []containing
}

// containing is one contains keyword.
type containing struct {
	schema *jsonschema.Schema
	least  int
}

func (g *Generator) mergeArray(sh *shape) *arrayShape {
	a := &arrayShape{maximum: unbounded}
	longest := 0
	for _, s := range sh.conj {
		if s.MinItems != nil {
			a.minimum = max(a.minimum, *s.MinItems)
		}
		if s.MaxItems != nil {
			a.maximum = min(a.maximum, *s.MaxItems)
		}
		a.unique = a.unique || s.UniqueItems
		longest = max(longest, len(tuple(s)))
		if s.Contains != nil {
			c := containing{schema: s.Contains, least: 1}
			if s.MinContains != nil {
				c.least = *s.MinContains
			}
			sh.sieve = sh.sieve || s.MaxContains != nil
			a.minimum = max(a.minimum, c.least)
			a.contains = append(a.contains, c)
		}
	}
	if longest >= a.minimum && closed(sh.conj) {
		a.maximum = min(a.maximum, longest)
	}
	for i := range min(longest, maxItemsEver) {
		a.prefixSets = append(a.prefixSets, itemSet(sh.conj, i))
	}
	a.restSet = itemSet(sh.conj, longest)
	for i, set := range a.prefixSets {
		a.prefix = append(a.prefix, g.nodeFor(set))
		if impossible(set) {
			a.maximum = min(a.maximum, i)
		}
	}
	a.rest = g.nodeFor(a.restSet)
	if impossible(a.restSet) {
		a.maximum = min(a.maximum, longest)
	}
	return a
}

// closed says that nothing may follow the tuples of a conjunction: one of it
// forbids what is unevaluated, and none evaluates more.
func closed(conj []*jsonschema.Schema) bool {
	forbids := false
	for _, s := range conj {
		if _, one := s.Items.(*jsonschema.Schema); one || s.Items2020 != nil || s.Contains != nil || s.AdditionalItems != nil {
			return false
		}
		u := s.UnevaluatedItems
		forbids = forbids || u != nil && u.Bool != nil && !*u.Bool
	}
	return forbids
}

func impossible(set []*jsonschema.Schema) bool {
	return slices.ContainsFunc(set, func(s *jsonschema.Schema) bool { return s.Bool != nil && !*s.Bool })
}

// tuple are the schemas by position, whatever the draft calls them.
func tuple(s *jsonschema.Schema) []*jsonschema.Schema {
	if list, ok := s.Items.([]*jsonschema.Schema); ok {
		return list
	}
	return s.PrefixItems
}

var never = func() *jsonschema.Schema { f := false; return &jsonschema.Schema{Bool: &f} }()

// itemSet are the schemas that apply to the item at position i.
func itemSet(conj []*jsonschema.Schema, i int) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, s := range conj {
		t := tuple(s)
		if i < len(t) {
			out = append(out, t[i])
			continue
		}
		if one, ok := s.Items.(*jsonschema.Schema); ok {
			out = append(out, one)
		}
		switch v := s.AdditionalItems.(type) {
		case bool:
			if !v {
				out = append(out, never)
			}
		case *jsonschema.Schema:
			out = append(out, v)
		}
		if s.Items2020 != nil {
			out = append(out, s.Items2020)
		}
	}
	return out
}

// item is the node of the item at position i.
func (a *arrayShape) item(i int) *node {
	if i < len(a.prefix) {
		return a.prefix[i]
	}
	return a.rest
}

// with is the node of the item at position i that must satisfy s as well.
func (g *Generator) with(a *arrayShape, i int, s *jsonschema.Schema) *node {
	set := a.restSet
	if i < len(a.prefixSets) {
		set = a.prefixSets[i]
	}
	return g.nodeFor(append(slices.Clone(set), s))
}
