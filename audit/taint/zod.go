package taint

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// shapeAt is the shape of the schema of a registration at a place.
func (a *analysis) shapeAt(at lang.Span) *value {
	for _, other := range sortedKeys(a.sources) {
		site := a.sources[other].facts.CallAt(at)
		if site == nil || site.Call.Span != at {
			continue
		}
		for _, arg := range site.Call.Args {
			if _, isFunction := arg.Value.(*lang.Function); isFunction {
				continue
			}
			if shape := a.shape(a.sources[other], arg.Value); shape != nil {
				return shape
			}
		}
	}
	return nil
}

// shape is what a schema of zod says of an object: for each field that holds no free
// text, what it is harmless for. It is nil for what is no schema.
func (a *analysis) shape(s *source, x lang.Expr) *value {
	return a.shapeOf(s, x, 0)
}

func (a *analysis) shapeOf(s *source, x lang.Expr, depth int) *value {
	if depth > 8 || x == nil {
		return nil
	}
	switch x := x.(type) {
	case lang.Name:
		if y := s.assigned[x.ID]; y != nil {
			return a.shapeOf(s, y, depth+1)
		}
		if i, ok := s.imports[x.ID]; ok {
			if other := a.pkg.Imported(s.Path, i.module); other != nil {
				return a.shapeOf(a.sources[other.Path], lang.Name{ID: i.name}, depth+1)
			}
		}
	case lang.Attr: // Schema.shape
		return a.shapeOf(s, x.X, depth+1)
	case lang.Call:
		for c := x; ; { // z.object({…}).strict()
			m, ok := c.Func.(lang.Attr)
			if !ok {
				break
			}
			if (m.Name == "object" || m.Name == "strictObject" || m.Name == "looseObject") && len(c.Args) > 0 {
				return a.shapeOf(s, c.Args[0].Value, depth+1)
			}
			inner, ok := m.X.(lang.Call)
			if !ok {
				break
			}
			c = inner
		}
		if _, isName := x.Func.(lang.Name); !isName {
			return nil
		}
		if out := a.shapeReturned(s, x, depth); out != nil {
			return out
		}
		if len(x.Args) > 0 { // object({…}) of a bundle
			return a.shapeOf(s, x.Args[0].Value, depth+1)
		}
	case lang.Collection:
		return a.shapeOfObject(s, x, depth)
	}
	return nil
}

func (a *analysis) shapeOfObject(s *source, x lang.Collection, depth int) *value {
	if x.Kind != lang.Dict {
		return nil
	}
	out := &value{}
	found := false
	for _, it := range x.Items {
		if spread, ok := it.Value.(lang.Spread); ok && it.Key == nil {
			if inner := a.shapeOf(s, spread.X, depth+1); inner != nil {
				found = true
				for _, k := range sortedKeys(inner.fields) {
					out.set(k, inner.fields[k])
				}
			}
			continue
		}
		k, ok := it.Key.(lang.Const)
		if !ok {
			continue
		}
		if schemaKeys[k.Text] {
			if inner := a.shapeOf(s, it.Value, depth+1); inner != nil {
				return inner
			}
		}
		if safe, ok := a.zod(s, it.Value, depth); ok {
			found = true
			out.set(k.Text, &value{taints: []taint{{safe: safe}}})
		}
	}
	if !found {
		return nil
	}
	return out
}

// zod is what a schema of one field makes harmless, by the calls of its chain.
func (a *analysis) zod(s *source, x lang.Expr, depth int) (safe class, ok bool) {
	open := false // what follows the type may be another
	for range 30 {
		c, isCall := x.(lang.Call)
		if !isCall {
			if n, isName := x.(lang.Name); isName && !ok && s.assigned[n.ID] != nil && depth < 6 {
				more, is := a.zod(s, s.assigned[n.ID], depth+1)
				return safe | more, is
			}
			return safe, ok
		}
		m, isAttr := c.Func.(lang.Attr)
		if !isAttr {
			if a.bundled(s, c) {
				return all, true
			}
			return safe, ok
		}
		switch m.Name {
		case "number", "int", "bigint":
			safe |= all | number
			ok = true
		case "boolean", "enum", "literal", "nativeEnum", "date", "uuid", "datetime", "null", "undefined", "ip", "cuid", "ulid", "guid":
			safe |= all
			ok = true
		case "string":
			ok = true
			if !open {
				safe |= selector
			}
		case "object", "record", "any", "unknown", "union":
			ok = true
		case "or", "transform", "pipe", "preprocess":
			open = true
		case "array":
			ok = true
			if len(c.Args) > 0 {
				more, _ := a.zod(s, c.Args[0].Value, depth+1)
				safe |= more
			}
		case "regex":
			if len(c.Args) > 0 {
				safe |= a.patternClass(s, c.Args[0].Value)
			}
		}
		x = m.X
	}
	return safe, ok
}

// closedKinds are the kinds of zod's definitions that hold no free text, by "type" of its
// version 4 and "typeName" of version 3. A minifier leaves them as they are.
var closedKinds = set("enum literal number int boolean date bigint ZodEnum ZodNativeEnum ZodLiteral ZodNumber ZodBoolean ZodDate ZodBigInt")

// bundled reports whether a call is one of a bundled zod, under any name, that makes a schema
// without free text.
func (a *analysis) bundled(s *source, c lang.Call) bool {
	for _, b := range a.called(s, c) {
		for _, stmt := range b.Function.Body {
			if r, ok := stmt.(lang.Return); ok && definesClosed(r.X) {
				return true
			}
		}
	}
	return false
}

// shapeReturned is the shape of the object that a function of the package returns.
func (a *analysis) shapeReturned(s *source, c lang.Call, depth int) *value {
	for _, b := range a.called(s, c) {
		for _, stmt := range b.Function.Body {
			r, ok := stmt.(lang.Return)
			if def, isObject := r.X.(lang.Collection); ok && isObject && a.sources[b.File.Path] != nil {
				return a.shapeOfObject(a.sources[b.File.Path].within(&lang.Scope{Function: b.Function}), def, depth+1)
			}
		}
	}
	return nil
}

// called are the functions of the package that a call may be of.
func (a *analysis) called(s *source, c lang.Call) []sinks.Body {
	site := s.facts.CallAt(c.Place())
	if site == nil {
		return nil
	}
	var out []sinks.Body
	for _, id := range a.pkg.Targets(s.Path, site.Names, site.Own) {
		if b, ok := a.pkg.Body(id); ok {
			out = append(out, b)
		}
	}
	return out
}

// within is a source as a function of it sees it: with what its own names are bound to once.
func (s *source) within(in *lang.Scope) *source {
	if in = in.InFunction(); in == nil {
		return s
	}
	local := *s
	local.assigned = map[string]lang.Expr{}
	local.collect(in.Function.Body)
	for k, x := range s.assigned {
		if _, own := local.assigned[k]; !own {
			local.assigned[k] = x
		}
	}
	return &local
}

// definesClosed reports whether an expression is new Schema({type: "enum", …}).
func definesClosed(x lang.Expr) bool {
	c, ok := x.(lang.Call)
	if !ok || len(c.Args) == 0 {
		return false
	}
	def, ok := c.Args[0].Value.(lang.Collection)
	if !ok || def.Kind != lang.Dict {
		return false
	}
	return slices.ContainsFunc(def.Items, func(it lang.Item) bool {
		k, ok := it.Key.(lang.Const)
		switch {
		case !ok:
			return false
		case k.Text == "type":
			kind, ok := it.Value.(lang.Const)
			return ok && closedKinds[kind.Text]
		}
		return k.Text == "typeName" && closedKinds[lastOf(it.Value)]
	})
}

// shaped is a value that was checked by a schema.
func (a *analysis) shaped(v, shape *value) *value {
	if !v.tainted() {
		return v
	}
	out := *v
	out.fields = map[string]*value{}
	for k, old := range v.fields {
		out.fields[k] = old
	}
	for _, k := range sortedKeys(shape.fields) {
		safe := shape.fields[k].sure()
		if safe&all == all && (!a.guarding || safe&number == 0) {
			out.set(k, nothing)
			continue
		}
		out.set(k, v.field(k).safer(safe))
	}
	return &out
}
