package schema

import (
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// place is a value inside another one, with the schemas that apply to it.
type place struct {
	path []string
	v    any
	conj []*jsonschema.Schema
}

// side says which part of a schema's alternatives was taken.
type side uint8

const (
	anyOfSide side = iota
	oneOfSide
	ifSide // 0 then, 1 else
	dependentSide
)

// walker goes through a value that is valid, as the schemas do.
type walker struct {
	g *Generator
	// visit sees every value with what applies to it, parents first.
	visit func(place)
	// took sees every alternative that holds; nil for nobody.
	took func(s *jsonschema.Schema, what side, i int)
}

// maxPlaces bounds the values of one document that are visited.
const maxPlaces = 5_000

func (w *walker) walk(v any) {
	left := maxPlaces
	w.at(nil, v, []*jsonschema.Schema{w.g.top}, &left)
}

func (w *walker) at(path []string, v any, set []*jsonschema.Schema, left *int) {
	if *left--; *left < 0 || len(path) > maxShrinkDepth {
		return
	}
	p := place{path: path, v: v, conj: w.expand(set, v)}
	w.visit(p)
	child := func(token string, v any, set []*jsonschema.Schema) {
		w.at(append(slices.Clone(path), token), v, set, left)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			set, _ := propertySet(p.conj, name)
			child(name, v[name], set)
		}
	case []any:
		for i, item := range v {
			child(strconv.Itoa(i), item, itemSet(p.conj, i))
		}
	}
}

// expand adds to a set what its schemas apply to the same value: of
// alternatives, those that hold.
func (w *walker) expand(set []*jsonschema.Schema, v any) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	seen := map[*jsonschema.Schema]bool{}
	queue := slices.Clone(set)
	for len(queue) > 0 && len(out) < maxConj {
		s := queue[0]
		queue = queue[1:]
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		out = append(out, s)
		queue = append(append(queue, s.Ref), s.AllOf...)
		queue = append(queue, w.dynamicEnd(s, v))
		queue = append(queue, w.alternatives(s, v)...)
	}
	return out
}

// dynamicEnd is the first schema of those that a dynamic reference may lead to
// that holds.
func (w *walker) dynamicEnd(s *jsonschema.Schema, v any) *jsonschema.Schema {
	_, plain, _ := dynamicName(s)
	_, ends := w.g.graph.endsOf(s)
	for _, t := range ends {
		if w.g.judge(t, v) {
			return t
		}
	}
	return plain
}

func (w *walker) alternatives(s *jsonschema.Schema, v any) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	take := func(t *jsonschema.Schema, what side, i int) {
		out = append(out, t)
		if w.took != nil {
			w.took(s, what, i)
		}
	}
	for what, list := range [][]*jsonschema.Schema{anyOfSide: s.AnyOf, oneOfSide: s.OneOf} {
		for i, t := range list {
			if w.g.judge(t, v) {
				take(t, side(what), i)
			}
		}
	}
	if s.If != nil && (s.Then != nil || s.Else != nil) {
		if w.g.judge(s.If, v) {
			out = append(out, s.If)
			take(s.Then, ifSide, 0)
		} else {
			take(s.Else, ifSide, 1)
		}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return out
	}
	for i, d := range dependents(s) {
		if _, present := m[d.name]; present {
			take(d.schema, dependentSide, i)
		}
	}
	return out
}

// dependent is a property that brings a schema with it.
type dependent struct {
	name   string
	schema *jsonschema.Schema
}

func dependents(s *jsonschema.Schema) []dependent {
	var out []dependent
	for _, name := range sortedKeys(s.DependentSchemas) {
		out = append(out, dependent{name, s.DependentSchemas[name]})
	}
	for _, name := range sortedKeys(s.Dependencies) {
		if t, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			out = append(out, dependent{name, t})
		}
	}
	return out
}

// put returns v with the value at path replaced; what lies on the way is copied.
func put(v any, path []string, to any) any {
	if len(path) == 0 {
		return to
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = x
		}
		out[path[0]] = put(v[path[0]], path[1:], to)
		return out
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v) {
			return v
		}
		out := slices.Clone(v)
		out[i] = put(v[i], path[1:], to)
		return out
	}
	return v
}
