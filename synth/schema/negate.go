package schema

import (
	"fmt"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxNegations bounds the schemas that are made up to stand for what "not" asks for.
const maxNegations = 4_000

// negations lists, for a schema that must not hold, ways in which it can fail
// to: each is a schema, and together they leave nothing out. What has no plain
// opposite becomes "anything", which the judge narrows.
func (g *graph) negations(s *jsonschema.Schema) []*jsonschema.Schema {
	if list, ok := g.negated[s]; ok {
		return list
	}
	n := negator{g: g}
	if g.made < maxNegations {
		n.all(s)
	}
	if len(n.out) == 0 || n.open {
		n.out = append(n.out, &jsonschema.Schema{})
	}
	g.made += len(n.out)
	g.negated[s] = n.out
	return n.out
}

// negator collects the opposites of one schema.
type negator struct {
	g    *graph
	out  []*jsonschema.Schema
	open bool // something of the schema has no plain opposite
}

func (n *negator) add(s *jsonschema.Schema) { n.out = append(n.out, s) }

// not is the schema that s forbids.
func not(s *jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{Not: s} }

func typed(names ...string) *jsonschema.Schema {
	t := new(jsonschema.Types)
	for _, name := range names {
		t.Add(name)
	}
	return &jsonschema.Schema{Types: t}
}

func (n *negator) all(s *jsonschema.Schema) {
	if s.Bool != nil {
		if *s.Bool {
			n.add(never)
		}
		return
	}
	n.types(s)
	n.open = n.open || s.Const != nil || s.Enum != nil || s.DynamicRef != nil || s.RecursiveRef != nil || len(s.Extensions) > 0
	n.combined(s)
	n.numbers(s)
	n.texts(s)
	n.arrays(s)
	n.objects(s)
	n.names(s)
}

func (n *negator) types(s *jsonschema.Schema) {
	if s.Types == nil {
		return
	}
	have := ownTypes(&jsonschema.Schema{Types: s.Types})
	var rest []string
	for _, name := range []string{"null", "boolean", "string", "array", "object"} {
		if have&typeNamed(name) == 0 {
			rest = append(rest, name)
		}
	}
	if have&tNumber == 0 {
		rest = append(rest, "number")
	}
	if len(rest) > 0 {
		n.add(typed(rest...))
	}
}

func (n *negator) combined(s *jsonschema.Schema) {
	if s.Ref != nil {
		n.add(not(s.Ref))
	}
	if s.Not != nil {
		n.add(s.Not)
	}
	for _, t := range s.AllOf {
		n.add(not(t))
	}
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(list) == 0 {
			continue
		}
		none := &jsonschema.Schema{}
		for _, t := range list {
			none.AllOf = append(none.AllOf, not(t))
		}
		n.add(none)
	}
	// Where exactly one must hold, two may hold instead.
	if len(s.OneOf) > 1 {
		n.open = true
	}
	if s.If != nil && s.Then != nil {
		n.add(&jsonschema.Schema{AllOf: []*jsonschema.Schema{s.If, not(s.Then)}})
	}
	if s.If != nil && s.Else != nil {
		n.add(&jsonschema.Schema{AllOf: []*jsonschema.Schema{not(s.If), not(s.Else)}})
	}
}

func (n *negator) numbers(s *jsonschema.Schema) {
	for _, b := range []struct {
		bound *big.Rat
		set   func(*jsonschema.Schema, *big.Rat)
	}{
		{s.Minimum, func(t *jsonschema.Schema, r *big.Rat) { t.ExclusiveMaximum = r }},
		{s.Maximum, func(t *jsonschema.Schema, r *big.Rat) { t.ExclusiveMinimum = r }},
		{s.ExclusiveMinimum, func(t *jsonschema.Schema, r *big.Rat) { t.Maximum = r }},
		{s.ExclusiveMaximum, func(t *jsonschema.Schema, r *big.Rat) { t.Minimum = r }},
		{s.MultipleOf, func(*jsonschema.Schema, *big.Rat) {}},
	} {
		if b.bound != nil {
			t := typed("number")
			b.set(t, b.bound)
			n.add(t)
		}
	}
}

// count adds the opposites of a least and a greatest count.
func (n *negator) count(kind string, least, most *int, low, high func(*jsonschema.Schema, *int)) {
	if least != nil && *least > 0 {
		t, v := typed(kind), *least-1
		high(t, &v)
		n.add(t)
	}
	if most != nil {
		t, v := typed(kind), *most+1
		low(t, &v)
		n.add(t)
	}
}

func (n *negator) texts(s *jsonschema.Schema) {
	n.count("string", s.MinLength, s.MaxLength,
		func(t *jsonschema.Schema, v *int) { t.MinLength = v }, func(t *jsonschema.Schema, v *int) { t.MaxLength = v })
	if s.Pattern != nil || s.Format != nil {
		n.add(typed("string"))
	}
}

func (n *negator) arrays(s *jsonschema.Schema) {
	n.count("array", s.MinItems, s.MaxItems,
		func(t *jsonschema.Schema, v *int) { t.MinItems = v }, func(t *jsonschema.Schema, v *int) { t.MaxItems = v })
	if s.UniqueItems {
		two := 2
		t := typed("array")
		t.MinItems, t.Items2020 = &two, &jsonschema.Schema{Const: new(any)}
		n.add(t)
		n.open = true
	}
	prefix := tuple(s)
	for i, item := range prefix {
		n.item(i, item)
	}
	for _, rest := range []any{s.Items, s.AdditionalItems, s.Items2020, s.UnevaluatedItems} {
		switch v := rest.(type) {
		case bool:
			if !v {
				n.item(len(prefix), never)
			}
		case *jsonschema.Schema:
			if v != nil {
				n.item(len(prefix), v)
				n.open = n.open || v == s.UnevaluatedItems
			}
		}
	}
	if s.Contains == nil {
		return
	}
	t := typed("array")
	t.Items2020 = not(s.Contains)
	n.add(t)
	n.open = n.open || s.MinContains != nil
	if s.MaxContains != nil {
		many := *s.MaxContains + 1
		t := typed("array")
		t.Contains, t.MinContains = s.Contains, &many
		n.add(t)
	}
}

// item adds an array whose item at position i is not as s asks.
func (n *negator) item(i int, s *jsonschema.Schema) {
	if i > maxItemsEver/8 {
		n.open = true
		return
	}
	length := i + 1
	t := typed("array")
	t.MinItems = &length
	for range i {
		t.PrefixItems = append(t.PrefixItems, &jsonschema.Schema{})
	}
	t.PrefixItems = append(t.PrefixItems, not(s))
	n.add(t)
}

// with is an object that has a property which s must hold for.
func withProperty(name string, s *jsonschema.Schema) *jsonschema.Schema {
	t := typed("object")
	t.Required, t.Properties = []string{name}, map[string]*jsonschema.Schema{name: s}
	return t
}

func (n *negator) objects(s *jsonschema.Schema) {
	n.count("object", s.MinProperties, s.MaxProperties,
		func(t *jsonschema.Schema, v *int) { t.MinProperties = v }, func(t *jsonschema.Schema, v *int) { t.MaxProperties = v })
	for _, name := range s.Required {
		t := typed("object")
		t.Properties = map[string]*jsonschema.Schema{name: never}
		n.add(t)
	}
	for _, name := range sortedKeys(s.Properties) {
		n.add(withProperty(name, not(s.Properties[name])))
	}
	for _, p := range patternsOf(s) {
		one := 1
		t := typed("object")
		t.MinProperties, t.PatternProperties = &one, map[jsonschema.Regexp]*jsonschema.Schema{p.re: not(p.schema)}
		n.add(t)
	}
	for _, name := range sortedKeys(s.DependentRequired) {
		n.withoutDependents(name, s.DependentRequired[name])
	}
	for _, name := range sortedKeys(s.DependentSchemas) {
		n.add(&jsonschema.Schema{AllOf: []*jsonschema.Schema{withProperty(name, &jsonschema.Schema{}), not(s.DependentSchemas[name])}})
	}
	for _, name := range sortedKeys(s.Dependencies) {
		switch v := s.Dependencies[name].(type) {
		case []string:
			n.withoutDependents(name, v)
		case *jsonschema.Schema:
			n.add(&jsonschema.Schema{AllOf: []*jsonschema.Schema{withProperty(name, &jsonschema.Schema{}), not(v)}})
		}
	}
}

// withoutDependents adds objects that have a property without one of those that it brings.
func (n *negator) withoutDependents(name string, list []string) {
	for _, other := range list {
		if other != name {
			t := withProperty(name, &jsonschema.Schema{})
			t.Properties[other] = never
			n.add(t)
		}
	}
}

// names covers what is said of properties that have no schema of their own.
func (n *negator) names(s *jsonschema.Schema) {
	if s.PropertyNames != nil {
		one := 1
		t := typed("object")
		t.MinProperties, t.PropertyNames = &one, not(s.PropertyNames)
		n.add(t)
	}
	for _, extra := range []any{s.AdditionalProperties, s.UnevaluatedProperties} {
		var forbidden *jsonschema.Schema
		switch v := extra.(type) {
		case bool:
			if !v {
				forbidden = never
			}
		case *jsonschema.Schema:
			forbidden = v
		}
		if forbidden != nil {
			n.add(withProperty(freshName(s), not(forbidden)))
			n.open = true
		}
	}
}

// freshName is a name that s does not know.
func freshName(s *jsonschema.Schema) string {
	for i := range 64 {
		name := ordinaryWords[i%len(ordinaryWords)]
		if i >= len(ordinaryWords) {
			name = fmt.Sprintf("%s%d", name, i)
		}
		_, known := s.Properties[name]
		for re := range s.PatternProperties {
			known = known || re.MatchString(name)
		}
		if !known {
			return name
		}
	}
	return "extra"
}
