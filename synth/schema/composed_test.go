package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"strconv"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// composer makes up schemas around a value that satisfies them, so that each is
// known to be satisfiable whatever its keywords say together.
type composer struct{ rng *rand.Rand }

func (c *composer) chance(n int) bool { return c.rng.Intn(100) < n }

func (c *composer) value(depth int) any {
	switch k := c.rng.Intn(8); {
	case k < 2 && depth > 0:
		out := []any{}
		for range c.rng.Intn(4) {
			out = append(out, c.value(depth-1))
		}
		return out
	case k < 5 && depth > 0:
		out := map[string]any{}
		for _, name := range []string{"id", "name", "x-mode", "size2", "kids"} {
			if c.chance(50) {
				out[name] = c.value(depth - 1)
			}
		}
		return out
	case k == 5:
		return json.Number(strconv.Itoa(c.rng.Intn(60) - 10))
	case k == 6:
		return []any{nil, true, false, json.Number("2.5")}[c.rng.Intn(4)]
	}
	return []string{"alpha", "ab-12", "2026-03-04", "", "A9", "user@example.com", "日本"}[c.rng.Intn(7)]
}

// around is a schema that v satisfies.
func (c *composer) around(v any, depth int) any {
	if depth <= 0 || c.chance(8) {
		return map[string]any{}
	}
	m := map[string]any{}
	if c.chance(60) {
		m["type"] = typeName(typeOfValue(v))
	}
	switch v := v.(type) {
	case string:
		c.text(m, v)
	case json.Number:
		c.number(m, v)
	case []any:
		c.array(m, v, depth)
	case map[string]any:
		c.object(m, v, depth)
	}
	c.applied(m, v, depth)
	return m
}

func (c *composer) text(m map[string]any, v string) {
	n := len([]rune(v))
	if c.chance(30) {
		m["minLength"] = json.Number(strconv.Itoa(max(0, n-c.rng.Intn(3))))
	}
	if c.chance(30) {
		m["maxLength"] = json.Number(strconv.Itoa(n + c.rng.Intn(5)))
	}
	if c.chance(30) {
		for _, p := range []string{`^[a-z]+$`, `^\w{2}-\d+$`, `^\d{4}-\d\d-\d\d$`, `^$`, `^[A-Z]\d`, `@`, `^\p{L}+$`, ``} {
			if re, err := newEngine().compile(p); err == nil && re.MatchString(v) && c.chance(70) {
				m["pattern"] = p
				break
			}
		}
	}
}

func (c *composer) number(m map[string]any, v json.Number) {
	n, err := strconv.Atoi(string(v))
	if err != nil {
		return
	}
	for _, b := range []struct {
		keyword string
		bound   int
	}{{"minimum", n - c.rng.Intn(4)}, {"maximum", n + c.rng.Intn(4)}, {"exclusiveMinimum", n - 1 - c.rng.Intn(4)}, {"exclusiveMaximum", n + 1 + c.rng.Intn(4)}} {
		if c.chance(25) {
			m[b.keyword] = json.Number(strconv.Itoa(b.bound))
		}
	}
	for _, step := range []int{2, 3, 7} {
		if n%step == 0 && c.chance(15) {
			m["multipleOf"] = json.Number(strconv.Itoa(step))
		}
	}
}

func (c *composer) array(m map[string]any, v []any, depth int) {
	if c.chance(30) {
		m["minItems"] = json.Number(strconv.Itoa(max(0, len(v)-c.rng.Intn(2))))
	}
	if c.chance(30) {
		m["maxItems"] = json.Number(strconv.Itoa(len(v) + c.rng.Intn(2)))
	}
	keys := map[string]bool{}
	var each []any
	for _, item := range v {
		keys[uniqueKey(item)] = true
		each = append(each, c.around(item, depth-1))
	}
	if len(keys) == len(v) && c.chance(40) {
		m["uniqueItems"] = true
	}
	if len(v) > 0 && c.chance(30) {
		m["contains"] = c.around(v[c.rng.Intn(len(v))], depth-1)
	}
	switch k := c.rng.Intn(4); {
	case len(v) == 0:
	case k == 0:
		m["items"] = map[string]any{"anyOf": each}
	case k == 1:
		m["prefixItems"] = each
		m[[]string{"items", "unevaluatedItems"}[c.rng.Intn(2)]] = false
	case k == 2:
		m["prefixItems"] = each[:1]
		if rest := each[1:]; len(rest) > 0 {
			m["items"] = map[string]any{"anyOf": rest}
		}
	}
}

func (c *composer) object(m map[string]any, v map[string]any, depth int) {
	properties, required := map[string]any{}, []any{}
	for _, name := range sortedKeys(v) {
		if c.chance(70) {
			properties[name] = c.around(v[name], depth-1)
		}
		if c.chance(50) {
			required = append(required, name)
		}
	}
	m["properties"], m["required"] = properties, required
	switch {
	case len(properties) == len(v) && c.chance(50):
		m[[]string{"additionalProperties", "unevaluatedProperties"}[c.rng.Intn(2)]] = false
	case len(properties) < len(v) && c.chance(30):
		m["additionalProperties"] = map[string]any{}
	}
	if c.chance(20) {
		m["propertyNames"] = map[string]any{"pattern": `^[a-z0-9-]+$`}
	}
	if c.chance(20) && v["x-mode"] != nil {
		m["patternProperties"] = map[string]any{"^x-": c.around(v["x-mode"], depth-1)}
	}
	if c.chance(25) {
		m["minProperties"] = json.Number(strconv.Itoa(max(0, len(v)-c.rng.Intn(2))))
	}
	if c.chance(25) {
		m["maxProperties"] = json.Number(strconv.Itoa(len(v) + c.rng.Intn(2)))
	}
	if names := sortedKeys(v); len(names) > 1 && c.chance(25) {
		m["dependentRequired"] = map[string]any{names[0]: []any{names[1]}}
		m["dependentSchemas"] = map[string]any{names[1]: c.around(v, depth-1)}
	}
}

// applied adds what applies further schemas to the same value.
func (c *composer) applied(m map[string]any, v any, depth int) {
	other := func() any { return c.around(c.value(1), depth-1) }
	switch c.rng.Intn(9) {
	case 0:
		m["allOf"] = []any{c.around(v, depth-1), c.around(v, depth-1)}
	case 1:
		m["anyOf"] = []any{other(), c.around(v, depth-1)}
	case 2:
		m["oneOf"] = []any{map[string]any{"const": "never this"}, c.around(v, depth-1)}
	case 3:
		m["if"], m["then"], m["else"] = other(), c.around(v, depth-1), c.around(v, depth-1)
	case 4:
		m["not"] = map[string]any{"enum": []any{"alpha", json.Number("7"), nil}, "type": []any{"string", "integer", "null"}}
	case 5:
		m["not"] = other()
	case 6:
		m["enum"] = []any{"one", v, json.Number("12"), c.value(1)}
	}
}

// TestComposedSchemas draws from schemas that are satisfiable by construction,
// in which keywords of all kinds meet. It holds how often a value is found.
func TestComposedSchemas(t *testing.T) {
	total, missed := 0, 0
	for seed := range int64(scale.N(200, 600)) {
		c := composer{rand.New(NewSource(seed))}
		v := c.value(3)
		doc := c.around(v, 4)
		raw := json.RawMessage(key(doc))
		judge := plain(t, raw)
		if judge.Validate(v) != nil {
			continue // one of the schemas that must not hold does
		}
		total++
		if why := unreachable(raw, judge.Validate); why != nil {
			if missed++; missed <= 12 {
				t.Logf("%v: %s, which %s satisfies", why, raw, key(v))
			}
			if !errors.Is(why, ErrNotFound) {
				t.Errorf("%v: %s, which %s satisfies", why, raw, key(v))
			}
		}
	}
	t.Logf("%d of %d schemas drawn from", total-missed, total)
	if missed*1000 > total*5 {
		t.Errorf("nothing is found for %d of %d schemas", missed, total)
	}
}

// unreachable is why one of the classes draws nothing, nil if all do.
func unreachable(raw json.RawMessage, valid func(any) error) error {
	g, err := New(raw, Options{})
	if err != nil {
		return err
	}
	for _, class := range []Class{Typical, Valid} {
		drawn, err := g.Draw(1, class)
		if err != nil {
			return fmt.Errorf("%v: %w", class, err)
		}
		v, err := decode(drawn)
		if err != nil {
			return err
		}
		if err := valid(v); err != nil {
			return fmt.Errorf("%v drew %s: %w", class, drawn, err)
		}
	}
	return nil
}
