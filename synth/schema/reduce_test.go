package schema

import (
	"encoding/json"
	"slices"

	"github.com/leanovate/gopter"
)

// maxReductions bounds the candidates for one schema.
const maxReductions = 2_000

// Reducer is the shrinker of schemas. For a Value that holds a schema it
// yields simpler ones: without a keyword, a member of an enum or a branch, with
// a part in the place of the whole, with smaller numbers. Every step compiles as it stands, and is
// shorter than the one before, so that shrinking ends.
func Reducer() gopter.Shrinker {
	return func(x any) gopter.Shrink {
		v, ok := x.(Value)
		if !ok {
			return gopter.NoShrink
		}
		list := simplerSchemas(v.V)
		i := 0
		return func() (any, bool) {
			for i < len(list) {
				i++
				if compiles(list[i-1]) {
					return Value{list[i-1]}, true
				}
			}
			return nil, false
		}
	}
}

// compiles says that a schema needs no repair.
func compiles(doc any) bool {
	c, err := compile(json.RawMessage(key(doc)), nil)
	return err == nil && len(c.notes) == 0
}

func simplerSchemas(doc any) []any {
	length := len(key(doc))
	seen := map[string]bool{}
	var out []any
	reduceSchema(doc, 0, func(w any) bool {
		if k := key(w); len(k) < length && !seen[k] {
			seen[k] = true
			out = append(out, w)
		}
		return len(out) < maxReductions
	})
	return out
}

// reduceSchema offers simpler schemas in the place of v; offer is false when
// there are enough.
func reduceSchema(v any, depth int, offer func(any) bool) {
	m, ok := v.(map[string]any)
	if !ok || depth > maxShrinkDepth {
		return
	}
	if !offer(map[string]any{}) {
		return
	}
	for _, part := range parts(m) {
		if !offer(part) {
			return
		}
	}
	for _, k := range sortedKeys(m) {
		w := without(m, k)
		if !offer(w) {
			return
		}
		reduceKeyword(k, m[k], depth, func(x any) bool {
			w := without(m, k)
			w[k] = x
			return offer(w)
		})
	}
}

func without(m map[string]any, drop string) map[string]any {
	w := make(map[string]any, len(m))
	for k, x := range m {
		if k != drop {
			w[k] = x
		}
	}
	return w
}

// parts are the schemas that a schema is made of.
func parts(m map[string]any) []any {
	var out []any
	for _, k := range sortedKeys(m) {
		switch v := m[k].(type) {
		case map[string]any:
			if schemaKeywords[k] {
				out = append(out, v)
			}
			if schemaMaps[k] {
				for _, name := range sortedKeys(v) {
					out = append(out, v[name])
				}
			}
		case []any:
			if schemaLists[k] || k == "items" {
				out = append(out, v...)
			}
		}
	}
	return slices.DeleteFunc(out, func(v any) bool { _, ok := v.(map[string]any); return !ok })
}

// reduceKeyword offers simpler values of a keyword, by what may stand there.
func reduceKeyword(k string, v any, depth int, offer func(any) bool) {
	switch v := v.(type) {
	case map[string]any:
		switch {
		case schemaKeywords[k]:
			reduceSchema(v, depth+1, offer)
		case schemaMaps[k]:
			reduceMap(v, depth, offer)
		default:
			reduceEntries(v, offer)
		}
	case []any:
		reduceList(v, schemaLists[k] || k == "items", depth, offer)
	case string:
		if k != "$schema" && k != "$ref" && v != "" {
			rs := []rune(v)
			for i := range min(len(rs), 100) {
				if !offer(string(rs[:i]) + string(rs[i+1:])) {
					return
				}
			}
		}
	case json.Number:
		for _, n := range []string{"0", "1", string(v[:len(v)/2])} {
			if n != string(v) && json.Valid([]byte(n)) && !offer(json.Number(n)) {
				return
			}
		}
	}
}

func reduceMap(m map[string]any, depth int, offer func(any) bool) {
	for _, name := range sortedKeys(m) {
		if !offer(without(m, name)) {
			return
		}
		reduceSchema(m[name], depth+1, func(x any) bool {
			w := without(m, name)
			w[name] = x
			return offer(w)
		})
	}
}

func reduceEntries(m map[string]any, offer func(any) bool) {
	for _, name := range sortedKeys(m) {
		if !offer(without(m, name)) {
			return
		}
	}
}

// reduceList offers a list with half of its members, with one less, and with a
// simpler schema in the place of one.
func reduceList(list []any, schemas bool, depth int, offer func(any) bool) {
	if n := len(list); n > 3 && (!offer(slices.Clone(list[:n/2])) || !offer(slices.Clone(list[n/2:]))) {
		return
	}
	for i := range list {
		if !offer(slices.Delete(slices.Clone(list), i, i+1)) {
			return
		}
		if schemas {
			reduceSchema(list[i], depth+1, func(x any) bool {
				w := slices.Clone(list)
				w[i] = x
				return offer(w)
			})
		}
	}
	// A list of one type is that type.
	if len(list) == 1 {
		if _, ok := list[0].(string); ok {
			offer(list[0])
		}
	}
}
