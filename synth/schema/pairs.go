package schema

import (
	"math/rand"
	"slices"

	"encoding/json"

	"github.com/leanovate/gopter"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What a value is worth that reaches a point for the first time.
var pointWorth = [...]int{enumPoint: 12, branchPoint: 16, presentPoint: 6, absentPoint: 4, pairPoint: 1}

// candidates is how many values are drawn for each that is handed out.
const candidates = 8

// dear is the cost of a value that is drawn once only.
const dear = 1_500

// absentLevel is the level of a parameter that is not given.
const absentLevel = "absent"

// enumeratePairs lists the pairs of levels of the parameters.
func (c *Coverage) enumeratePairs() {
	c.params = c.parameters()
	for i, a := range c.params {
		for _, b := range c.params[i+1:] {
			for _, x := range a.levels {
				for _, y := range b.levels {
					c.add(pairOf(a.name, x, b.name, y))
				}
			}
		}
	}
}

func pairOf(a, x, b, y string) point {
	return point{of: pairPoint, name: appendName(a) + "=" + x + ", " + appendName(b) + "=" + y}
}

func appendName(name string) string { return string(appendString(nil, name)) }

// parameters are the properties of the whole that are declared unconditionally.
func (c *Coverage) parameters() []parameter {
	sets, required := c.g.properties()
	var out []parameter
	for _, name := range sortedKeys(sets) {
		if len(out) >= maxParams {
			break
		}
		levels := c.levels(sets[name])
		if !required[name] {
			levels = append(levels, absentLevel)
		}
		out = append(out, parameter{name, levels})
	}
	return out
}

// properties are the schemas of each property of the whole that is declared unconditionally, and which are required.
func (g *Generator) properties() (sets map[string][]*jsonschema.Schema, required map[string]bool) {
	w := walker{g: g}
	sets, required = map[string][]*jsonschema.Schema{}, map[string]bool{}
	for _, s := range w.expand([]*jsonschema.Schema{g.top}, nil) {
		for name, t := range s.Properties {
			sets[name] = append(sets[name], t)
		}
		for _, name := range s.Required {
			required[name] = true
		}
	}
	return sets, required
}

// levels are the values of a parameter that are told apart: the members of an
// enum, true and false, else its types.
func (c *Coverage) levels(set []*jsonschema.Schema) []string {
	w := walker{g: c.g}
	types := allTypes
	var members []string
	for _, s := range w.expand(set, nil) {
		types &= c.g.graph.types(s)
		if s.Enum != nil && members == nil {
			for _, v := range s.Enum.Values[:min(len(s.Enum.Values), maxLevels)] {
				members = append(members, key(v))
			}
		}
	}
	if members != nil {
		return members
	}
	var out []string
	for _, t := range listTypes {
		switch {
		case types == allTypes:
			return []string{"given"}
		case types&t == 0, t == tNumber && types&tInteger != 0:
		case t == tBoolean:
			out = append(out, "false", "true")
		default:
			out = append(out, typeName(t))
		}
	}
	return out
}

func typeName(t typeSet) string {
	for _, name := range []string{"null", "boolean", "integer", "number", "string", "array", "object"} {
		if typeNamed(name)&t != 0 {
			return name
		}
	}
	return "none"
}

// level is the one of a parameter's levels that a value is at.
func (p *parameter) level(v any) string {
	k := ""
	switch v := v.(type) {
	case bool, string:
		k = key(v)
	case json.Number:
		k = key(v)
		if !slices.Contains(p.levels, k) && typeOfValue(v) == tNumber && !slices.Contains(p.levels, "number") {
			return "integer"
		}
	}
	if slices.Contains(p.levels, k) {
		return k
	}
	if slices.Contains(p.levels, "given") {
		return "given"
	}
	return typeName(typeOfValue(v))
}

func (c *Coverage) pairs(v any, f func(point)) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	at := make([]string, len(c.params))
	for i := range c.params {
		at[i] = absentLevel
		if x, present := m[c.params[i].name]; present {
			at[i] = c.params[i].level(x)
		}
	}
	for i := range c.params {
		for j := i + 1; j < len(c.params); j++ {
			f(pairOf(c.params[i].name, at[i], c.params[j].name, at[j]))
		}
	}
}

// Draw returns a value of a class that reaches as much as possible of what was
// not reached yet. The same seed gives the same value after the same
// draws and observations, on any machine. It counts only once it is observed.
func (c *Coverage) Draw(seed int64, class Class) (json.RawMessage, error) {
	c.heat()
	var best any
	var first error
	most := -1
	for i := range int64(candidates) {
		p := &gopter.GenParameters{MaxSize: 20, Rng: rand.New(NewSource(seed + i<<32))}
		v, err := c.g.drawFor(p, class, c)
		if err != nil {
			first = err
			break
		}
		if n := c.worth(v); n > most {
			best, most = v, n
		}
		if c.cost > dear {
			break
		}
	}
	if best == nil {
		return nil, first
	}
	if class == Sourced {
		c.turn++
	}
	return appendJSON(nil, best), nil
}

// worth is what a value would add.
func (c *Coverage) worth(v any) int {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	sum := 0
	counted := map[point]bool{}
	c.reaches(v, func(p point) {
		if done, ok := c.points[p]; ok && !done && !counted[p] {
			counted[p] = true
			sum += pointWorth[p.of]
		}
	})
	return sum
}

// heat finds the schemas below which something is still to be reached.
func (c *Coverage) heat() {
	c.hot = map[*jsonschema.Schema]bool{}
	for _, p := range c.list {
		if !c.points[p] && p.s != nil && p.of != absentPoint {
			c.hot[p.s] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(c.walked) - 1; i >= 0; i-- {
			s := c.walked[i]
			if !c.hot[s] && slices.ContainsFunc(c.down[s], func(t *jsonschema.Schema) bool { return c.hot[t] }) {
				c.hot[s], changed = true, true
			}
		}
	}
}

// wanted says that a set of schemas leads to something that is still to be reached.
func (c *Coverage) wanted(set []*jsonschema.Schema) bool {
	return c != nil && slices.ContainsFunc(set, func(s *jsonschema.Schema) bool { return c.hot[s] })
}

// missing says that a point is known and was not reached.
func (c *Coverage) missing(p point) bool {
	done, ok := c.points[p]
	return ok && !done
}
