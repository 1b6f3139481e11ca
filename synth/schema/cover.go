package schema

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds of what is counted for one schema.
const (
	maxPoints = 20_000
	maxParams = 40 // parameters of which pairs are counted
	maxLevels = 12 // values of one parameter that are told apart in a pair
)

// Count is how many of what there is were reached.
type Count struct {
	Reached int `json:"reached"`
	Total   int `json:"total"`
}

// Counts are what the values seen so far have reached of a schema.
type Counts struct {
	// Enums are the members of all enums.
	Enums Count `json:"enums"`
	// Branches are those of anyOf, oneOf, if and dependent schemas.
	Branches Count `json:"branches"`
	// Optional counts each optional property twice: present and absent.
	Optional Count `json:"optional"`
	// Pairs are the pairs of values of two different parameters.
	Pairs Count `json:"pairs"`
}

// aspect is what a point is about.
type aspect uint8

const (
	enumPoint aspect = iota
	branchPoint
	presentPoint
	absentPoint
	pairPoint
)

// point is one thing that a value can reach. Name is an enum's member, a
// property, or the levels of a pair.
type point struct {
	of   aspect
	s    *jsonschema.Schema
	name string
}

// Coverage counts what values reach of the schema of a generator, and draws
// values that reach more. It is for one goroutine at a time.
type Coverage struct {
	g      *Generator
	points map[point]bool // true where it was reached
	list   []point        // in one order on every machine
	walked []*jsonschema.Schema
	turn   int             // values of the source that were drawn
	tried  map[string]bool // texts and numbers that were given
	down   map[*jsonschema.Schema][]*jsonschema.Schema
	params []parameter
	cost   int // of the value drawn last, in steps
	hot    map[*jsonschema.Schema]bool
}

// parameter is a property of the whole, with the values of it that are told apart.
type parameter struct {
	name   string
	levels []string
}

// Coverage returns a count of nothing so far.
func (g *Generator) Coverage() *Coverage {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := &Coverage{g: g, points: map[point]bool{}, tried: map[string]bool{}, down: map[*jsonschema.Schema][]*jsonschema.Schema{}}
	c.enumerate()
	c.enumeratePairs()
	return c
}

func (c *Coverage) add(p point) {
	if _, ok := c.points[p]; ok || len(c.list) >= maxPoints {
		return
	}
	c.points[p] = false
	c.list = append(c.list, p)
}

// enumerate lists the points of each schema that values are drawn from: what
// must not hold, and what is only asked, is left out.
func (c *Coverage) enumerate() {
	seen := map[*jsonschema.Schema]bool{}
	queue := []*jsonschema.Schema{c.g.top}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s == nil || seen[s] || s.Bool != nil {
			continue
		}
		seen[s] = true
		c.walked = append(c.walked, s)
		c.own(s)
		next := reached(c.g.graph, s)
		c.down[s] = next
		queue = append(queue, next...)
	}
}

// reached are the schemas that s applies to what is drawn for it.
func reached(g *graph, s *jsonschema.Schema) []*jsonschema.Schema {
	out := append([]*jsonschema.Schema{s.Ref, s.Then, s.Else}, s.AllOf...)
	out = append(append(out, s.AnyOf...), s.OneOf...)
	if _, plain, _ := dynamicName(s); plain != nil {
		_, ends := g.endsOf(s)
		out = append(append(out, plain), ends...)
	}
	for _, d := range dependents(s) {
		out = append(out, d.schema)
	}
	for _, name := range sortedKeys(s.Properties) {
		out = append(out, s.Properties[name])
	}
	for _, p := range patternsOf(s) {
		out = append(out, p.schema)
	}
	for _, v := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch v := v.(type) {
		case *jsonschema.Schema:
			out = append(out, v)
		case []*jsonschema.Schema:
			out = append(out, v...)
		}
	}
	out = append(append(out, s.PrefixItems...), s.Items2020)
	return slices.DeleteFunc(out, func(t *jsonschema.Schema) bool { return t == nil })
}

// own lists the points of one schema. What can not be reached is none.
func (c *Coverage) own(s *jsonschema.Schema) {
	if s.Enum != nil {
		for _, v := range s.Enum.Values[:min(len(s.Enum.Values), maxPoints)] {
			if c.g.judge(s, v) {
				c.add(point{enumPoint, s, key(v)})
			}
		}
	}
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		for _, t := range list {
			if c.g.graph.h(t) <= c.g.depth && c.g.graph.types(t)&c.g.graph.types(s) != 0 {
				c.add(point{of: branchPoint, s: t})
			}
		}
	}
	if s.If != nil && (s.Then != nil || s.Else != nil) {
		c.add(sidePoint(s, 0))
		c.add(sidePoint(s, 1))
	}
	for i := range dependents(s) {
		c.add(point{branchPoint, s, strconv.Itoa(i)})
	}
	for _, name := range sortedKeys(s.Properties) {
		if t := s.Properties[name]; !slices.Contains(s.Required, name) && c.g.graph.h(t) < c.g.depth {
			c.add(point{presentPoint, s, name})
			c.add(point{absentPoint, s, name})
		}
	}
}

// sidePoint is the point of one side of an if.
func sidePoint(s *jsonschema.Schema, i int) point {
	return point{branchPoint, s, []string{"then", "else"}[i]}
}

// Observe counts what a value reaches; one that is not valid reaches nothing.
func (c *Coverage) Observe(raw json.RawMessage) {
	v, err := decode(raw)
	if err != nil {
		return
	}
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	if !c.g.judge(c.g.top, v) {
		return
	}
	eachScalar(v, maxPlaces, c.try)
	c.reaches(v, func(p point) {
		if _, ok := c.points[p]; ok {
			c.points[p] = true
		}
	})
}

// reaches visits the points that a valid value reaches.
func (c *Coverage) reaches(v any, f func(point)) {
	w := walker{g: c.g}
	w.took = func(s *jsonschema.Schema, what side, i int) {
		switch what {
		case anyOfSide:
			f(point{of: branchPoint, s: s.AnyOf[i]})
		case oneOfSide:
			f(point{of: branchPoint, s: s.OneOf[i]})
		case ifSide:
			f(sidePoint(s, i))
		case dependentSide:
			f(point{branchPoint, s, strconv.Itoa(i)})
		}
	}
	w.visit = func(p place) {
		for _, s := range p.conj {
			if s.Enum != nil {
				f(point{enumPoint, s, key(p.v)})
			}
			m, ok := p.v.(map[string]any)
			if !ok {
				continue
			}
			for name := range s.Properties {
				if _, present := m[name]; present {
					f(point{presentPoint, s, name})
					continue
				}
				f(point{absentPoint, s, name})
			}
		}
	}
	w.walk(v)
	c.pairs(v, f)
}

// Counts says what was reached so far.
func (c *Coverage) Counts() Counts {
	var out Counts
	for _, p := range c.list {
		n := map[aspect]*Count{enumPoint: &out.Enums, branchPoint: &out.Branches, presentPoint: &out.Optional,
			absentPoint: &out.Optional, pairPoint: &out.Pairs}[p.of]
		n.Total++
		if c.points[p] {
			n.Reached++
		}
	}
	return out
}

// Missing names what was not reached yet, at most n of it.
func (c *Coverage) Missing(n int) []string {
	var out []string
	for _, p := range c.list {
		if c.points[p] || len(out) >= n {
			continue
		}
		what := map[aspect]string{enumPoint: "member ", branchPoint: "branch ", presentPoint: "present: ", absentPoint: "absent: ", pairPoint: "pair "}[p.of]
		at := ""
		if p.s != nil {
			at = " of " + clip(p.s.Location)
		}
		out = append(out, what+clip(p.name)+at)
	}
	return out
}

// eachScalar visits the texts, numbers and the like of a value, at most n
// values in all; it returns how many are left.
func eachScalar(v any, n int, f func(any)) int {
	if n <= 0 {
		return 0
	}
	n--
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			n = eachScalar(v[k], n, f)
		}
	case []any:
		for _, item := range v {
			n = eachScalar(item, n, f)
		}
	default:
		f(v)
	}
	return n
}
