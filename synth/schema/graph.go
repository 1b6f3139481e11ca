package schema

import (
	"errors"
	"math"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxHeight is how deep a drawn value may be nested.
	maxHeight = 24
	// softHeight is the depth from which only what is required is drawn.
	softHeight = 4
	// maxCost bounds the schemas that the validator visits for one value: a
	// schema that refers to itself many times over takes exponential time.
	maxCost = 300_000
	// itemsCost is how many items an array is reckoned to hold.
	itemsCost = 4
)

// infinite is the height of a schema that no finite value satisfies.
const infinite = math.MaxInt32

// ErrTooComplex is wrapped by the error for a schema whose validation would take too long.
var ErrTooComplex = errors.New("schema too complex")

// graph is what is known of each schema that the root reaches.
type graph struct {
	list   []*jsonschema.Schema
	index  map[*jsonschema.Schema]int
	height []int
	// same lists the schemas applied to the same value, down those applied to its children.
	same, down [][]int
	multiple   []float64
	own        []typeSet
	dynamic    dynamic
	negated    map[*jsonschema.Schema][]*jsonschema.Schema
	made       int // schemas in negated
}

// newGraph follows root; ends are what dynamic references may lead to beside it.
func newGraph(root *jsonschema.Schema, ends []*jsonschema.Schema) *graph {
	g := &graph{index: map[*jsonschema.Schema]int{}, negated: map[*jsonschema.Schema][]*jsonschema.Schema{}}
	g.add(root)
	g.extend()
	for _, s := range ends {
		g.add(s)
	}
	g.extend()
	g.findDynamic()
	g.findHeights()
	return g
}

// extend works off the list, which grows meanwhile.
func (g *graph) extend() {
	for len(g.same) < len(g.list) {
		s := g.list[len(g.same)]
		var same, down []int
		eachSame(s, func(t *jsonschema.Schema) { same = append(same, g.add(t)) })
		eachDown(s, func(t *jsonschema.Schema) { down = append(down, g.add(t)) })
		g.same, g.down = append(g.same, same), append(g.down, down)
		g.multiple = append(g.multiple, childMultiple(s))
		for _, t := range []*jsonschema.Schema{s.Not, s.If} {
			if t == nil {
				continue
			}
			for _, opposite := range g.negations(t) {
				g.add(opposite)
			}
		}
	}
}

func (g *graph) add(s *jsonschema.Schema) int {
	if i, ok := g.index[s]; ok {
		return i
	}
	i := len(g.list)
	g.index[s] = i
	g.list = append(g.list, s)
	g.own = append(g.own, ownTypes(s))
	return i
}

// eachSame visits, in one order on every machine, the schemas that s applies
// to its own value.
func eachSame(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	for _, t := range []*jsonschema.Schema{s.Ref, s.RecursiveRef} {
		if t != nil {
			f(t)
		}
	}
	if s.DynamicRef != nil && s.DynamicRef.Ref != nil {
		f(s.DynamicRef.Ref)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, {s.Not, s.If, s.Then, s.Else}} {
		for _, t := range list {
			if t != nil {
				f(t)
			}
		}
	}
	for _, name := range sortedKeys(s.DependentSchemas) {
		f(s.DependentSchemas[name])
	}
	for _, name := range sortedKeys(s.Dependencies) {
		if t, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			f(t)
		}
	}
}

// eachDown visits the schemas that s applies to its value's children.
func eachDown(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	for _, name := range sortedKeys(s.Properties) {
		f(s.Properties[name])
	}
	for _, p := range patternsOf(s) {
		f(p.schema)
	}
	for _, v := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch v := v.(type) {
		case *jsonschema.Schema:
			if v != nil {
				f(v)
			}
		case []*jsonschema.Schema:
			for _, t := range v {
				f(t)
			}
		}
	}
	for _, t := range s.PrefixItems {
		f(t)
	}
	for _, t := range []*jsonschema.Schema{s.Items2020, s.Contains, s.PropertyNames, s.UnevaluatedItems, s.UnevaluatedProperties} {
		if t != nil {
			f(t)
		}
	}
}

func childMultiple(s *jsonschema.Schema) float64 {
	if s.Items != nil || s.Items2020 != nil || s.Contains != nil || s.AdditionalProperties != nil || len(s.PatternProperties) > 0 {
		return itemsCost
	}
	return 1
}

// types are those that s itself allows.
func (g *graph) types(s *jsonschema.Schema) typeSet {
	if i := g.at(s); i >= 0 {
		return g.own[i]
	}
	return ownTypes(s)
}

// findHeights is a least fixed point: how deep the flattest value of each
// schema is nested.
func (g *graph) findHeights() {
	g.height = make([]int, len(g.list))
	for i := range g.height {
		g.height[i] = infinite
	}
	for range maxHeight + 2 {
		changed := false
		for i := len(g.list) - 1; i >= 0; i-- {
			if h := g.heightOf(g.list[i]); h < g.height[i] {
				g.height[i] = h
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

func (g *graph) h(s *jsonschema.Schema) int {
	if s == nil {
		return 0
	}
	if i := g.at(s); i >= 0 {
		return g.height[i]
	}
	return g.heightOf(s)
}

// at is the place of s in the graph, negative for a schema of our own.
func (g *graph) at(s *jsonschema.Schema) int {
	if i, ok := g.index[s]; ok {
		return i
	}
	return -1
}

func (g *graph) heightOf(s *jsonschema.Schema) int {
	if s.Bool != nil {
		if *s.Bool {
			return 0
		}
		return infinite
	}
	if s.Not != nil && s.Not.Bool != nil && *s.Not.Bool {
		return infinite
	}
	h := max(g.h(s.Ref), g.dynamicHeight(s))
	for _, t := range s.AllOf {
		h = max(h, g.h(t))
	}
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(list) == 0 {
			continue
		}
		least := infinite
		for _, t := range list {
			least = min(least, g.h(t))
		}
		h = max(h, least)
	}
	return max(h, g.ownHeight(s))
}

// dynamicHeight is that of the flattest schema that a dynamic reference leads to.
func (g *graph) dynamicHeight(s *jsonschema.Schema) int {
	_, plain, _ := dynamicName(s)
	if plain == nil {
		return 0
	}
	least := g.h(plain)
	_, ends := g.endsOf(s)
	for _, t := range ends {
		least = min(least, g.h(t))
	}
	return least
}

// ownHeight is the height that s's own keywords for objects and arrays ask for.
func (g *graph) ownHeight(s *jsonschema.Schema) int {
	types := g.types(s)
	if types&(allTypes&^(tObject|tArray)) != 0 || s.Enum != nil || s.Const != nil {
		return 0
	}
	least := infinite
	if types&tObject != 0 {
		h := 0
		for _, name := range s.Required {
			if t, ok := s.Properties[name]; ok {
				h = max(h, deeper(g.h(t)))
			}
		}
		least = min(least, h)
	}
	if types&tArray != 0 {
		h := 0
		if s.MinItems != nil && *s.MinItems > 0 {
			h = 1
			if t, ok := s.Items.(*jsonschema.Schema); ok {
				h = max(h, deeper(g.h(t)))
			}
			if s.Items2020 != nil && *s.MinItems > len(s.PrefixItems) {
				h = max(h, deeper(g.h(s.Items2020)))
			}
		}
		least = min(least, h)
	}
	return least
}

func deeper(h int) int {
	if h >= infinite {
		return infinite
	}
	return h + 1
}

// depthWithin is the greatest nesting at which validating one value stays
// affordable; negative where not even a scalar does.
func (g *graph) depthWithin() int {
	prev := make([]float64, len(g.list))
	for d := 0; d <= maxHeight; d++ {
		c := costs{g: g, below: prev, at: make([]float64, len(g.list)), state: make([]byte, len(g.list))}
		if c.of(0) > maxCost {
			return d - 1
		}
		for i := range g.list {
			c.of(i)
		}
		prev = c.at
	}
	return maxHeight
}

// costs reckons one depth from the one below it.
type costs struct {
	g         *graph
	below, at []float64
	state     []byte
}

func (c *costs) of(i int) float64 {
	if c.state[i] != 0 {
		return c.at[i]
	}
	c.state[i] = 1
	sum := 1.0
	if e := c.g.list[i].Enum; e != nil {
		sum += float64(len(e.Values))
	}
	for _, t := range c.g.same[i] {
		sum += c.of(t)
	}
	_, ends := c.g.endsOf(c.g.list[i])
	most := 0.0
	for _, t := range ends {
		most = max(most, c.of(c.g.at(t)))
	}
	sum += most
	for _, t := range c.g.down[i] {
		sum += c.below[t] * c.g.multiple[i]
	}
	c.at[i] = min(sum, 1e12)
	c.state[i] = 2
	return c.at[i]
}
