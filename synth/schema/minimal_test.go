package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"pgregory.net/rapid"
)

// least follows a shrinker, always to the first step that keeps the property.
func least(shrinker gopter.Shrinker, v any, holds func(any) bool, check func(any)) any {
	for range 5_000 {
		next, found := shrinker(Value{v}), false
		for {
			w, ok := next()
			if !ok {
				break
			}
			check(w.(Value).V)
			if holds(w.(Value).V) {
				v, found = w.(Value).V, true
				break
			}
		}
		if !found {
			break
		}
	}
	return v
}

// neighbours are the values with one part less: a member, an item, or the
// first or last character of a text.
func neighbours(v any, f func(any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			f(without(v, k))
			neighbours(v[k], func(x any) {
				w := without(v, k)
				w[k] = x
				f(w)
			})
		}
	case []any:
		for i := range v {
			f(slices.Delete(slices.Clone(v), i, i+1))
			neighbours(v[i], func(x any) {
				w := slices.Clone(v)
				w[i] = x
				f(w)
			})
		}
	case string:
		if rs := []rune(v); len(rs) > 0 {
			f(string(rs[1:]))
			f(string(rs[:len(rs)-1]))
		}
	case json.Number:
		if n, err := strconv.Atoi(string(v)); err == nil && n > 0 {
			f(json.Number(strconv.Itoa(n - 1)))
		}
	}
}

// scalars lists the scalars of a value.
func scalars(v any) []any {
	var out []any
	eachScalar(v, maxPlaces, func(x any) { out = append(out, x) })
	return out
}

// trigger is a property that a drawn value has: it holds a text with some
// character, a number at least as great, or a scalar of that kind.
func trigger(t *rapid.T, v any) func(any) bool {
	list := scalars(v)
	if len(list) == 0 {
		return func(any) bool { return true }
	}
	want := rapid.SampledFrom(list).Draw(t, "scalar")
	return func(w any) bool {
		return slices.ContainsFunc(scalars(w), func(x any) bool {
			switch want := want.(type) {
			case string:
				s, ok := x.(string)
				return ok && (want == "" || strings.ContainsRune(s, []rune(want)[len([]rune(want))/2]))
			case json.Number:
				a, okA := ratText(string(want))
				n, isNumber := x.(json.Number)
				b, okB := ratText(string(n))
				return isNumber && okA && okB && b.Cmp(a) >= 0
			}
			return x == want
		})
	}
}

// TestValuesShrinkToLocalMinima: from what the shrinker ends at, no member,
// item or character can be taken away so that the value is still valid and
// still triggers; and each step on the way is valid.
func TestValuesShrinkToLocalMinima(t *testing.T) {
	var gens []*Generator
	for _, schema := range append([]string{shrinkSchema, layered}, plainOf(satisfiable)...) {
		g, err := New(json.RawMessage(schema), Options{})
		if err != nil {
			t.Fatal(err)
		}
		gens = append(gens, g)
	}
	rapid.Check(t, func(t *rapid.T) {
		g := gens[rapid.IntRange(0, len(gens)-1).Draw(t, "schema")]
		raw, err := g.Draw(rapid.Int64Range(0, 1<<40).Draw(t, "seed"), rapid.SampledFrom([]Class{Typical, Valid}).Draw(t, "class"))
		if err != nil || len(raw) > 800 {
			t.Skip("drawn too large to be looked at from every side")
		}
		v, err := decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		holds := trigger(t, v)
		end := least(g.Shrinker(), v, holds, func(w any) {
			if !g.judge(g.top, w) {
				t.Fatalf("a step from %s to %s is not valid", raw, key(w))
			}
		})
		if !holds(end) {
			t.Fatalf("%s lost its trigger: %s", raw, key(end))
		}
		neighbours(end, func(w any) {
			if g.judge(g.top, w) && holds(w) {
				t.Fatalf("%s was shrunk to %s, but %s would do", raw, key(end), key(w))
			}
		})
	})
}

func plainOf(list []struct{ name, schema string }) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.schema)
	}
	return out
}

// composed draws a schema of many keywords.
func composed(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		m := map[string]any{}
		sub := func(label string) any { return composed(depth-1).Draw(t, label) }
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"type", "enum", "minimum", "maxLength", "pattern", "required", "properties",
			"items", "anyOf", "allOf", "not", "if", "uniqueItems", "minItems", "title"}), 1, 4, rapid.ID[string]).Draw(t, "keywords") {
			switch k {
			case "type":
				m[k] = rapid.SampledFrom([]any{"object", "array", "string", "integer", []any{"string", "null"}}).Draw(t, k)
			case "enum":
				m[k] = []any{"a", "b", json.Number("3")}
			case "minimum", "maxLength", "minItems":
				m[k] = json.Number(strconv.Itoa(rapid.IntRange(0, 40).Draw(t, k)))
			case "pattern":
				m[k] = rapid.SampledFrom([]string{"^[a-z]+$", "x"}).Draw(t, k)
			case "required":
				m[k] = []any{"p", "q"}
			case "uniqueItems":
				m[k] = true
			case "title":
				m[k] = "words"
			case "properties":
				if depth > 0 {
					m[k] = map[string]any{"p": sub("p"), "q": sub("q")}
				}
			case "anyOf", "allOf":
				if depth > 0 {
					m[k] = []any{sub("first"), sub("second")}
				}
			default:
				if depth > 0 {
					m[k] = sub(k)
				}
			}
		}
		return m
	})
}

// keywords counts the keywords of a schema, however deep.
func keywords(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			f(k)
			keywords(x, f)
		}
	case []any:
		for _, x := range v {
			keywords(x, f)
		}
	}
}

func TestSchemasShrinkToLocalMinima(t *testing.T) {
	shrinker := Reducer()
	rapid.Check(t, func(t *rapid.T) {
		doc := composed(3).Draw(t, "schema")
		if !compiles(doc) {
			t.Skip("does not compile")
		}
		names := map[string]bool{}
		keywords(doc, func(k string) { names[k] = true })
		if len(names) == 0 {
			t.Skip("nothing to keep")
		}
		want := rapid.SampledFrom(sortedKeys(names)).Draw(t, "kept")
		holds := func(v any) bool {
			found := false
			keywords(v, func(k string) { found = found || k == want })
			return found
		}
		end := least(shrinker, doc, holds, func(w any) {
			if !compiles(w) {
				t.Fatalf("a step to %s does not compile", key(w))
			}
		})
		neighbours(end, func(w any) {
			if len(key(w)) < len(key(end)) && holds(w) && compiles(w) {
				t.Fatalf("%s was shrunk to %s, but %s would do", key(doc), key(end), key(w))
			}
		})
	})
}
