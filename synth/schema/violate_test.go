package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// broken are schemas with every violation that must be found in them.
var broken = []struct {
	schema string
	want   []string
}{
	{`{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":2,"maxLength":9}}}`,
		[]string{"required of the whole", "type at /a", "minLength at /a", "maxLength at /a"}},
	{`{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":3,"maximum":12,"multipleOf":3}},"additionalProperties":false}`,
		[]string{"minimum at /n", "maximum at /n", "multipleOf at /n", "additionalProperties of the whole"}},
	{`{"type":"object","required":["x"],"properties":{"x":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}}}`,
		[]string{"exclusiveMinimum at /x", "exclusiveMaximum at /x"}},
	{`{"type":"object","required":["m"],"properties":{"m":{"enum":["r","w"]},"c":{"const":5},"p":{"type":"string","pattern":"^[a-z]+$"},"d":{"type":"string","format":"date"}}}`,
		[]string{"enum at /m", "const at /c", "pattern at /p", "format at /d"}},
	{`{"type":"object","required":["l"],"properties":{"l":{"type":"array","minItems":1,"maxItems":3,"uniqueItems":true,"items":{"type":"integer"},"contains":{"type":"integer"}}}}`,
		[]string{"minItems at /l", "maxItems at /l", "uniqueItems at /l", "type at /l/0"}},
	{`{"type":"object","required":["t"],"properties":{"t":{"type":"array","prefixItems":[{"type":"string"}],"items":false,"minItems":1}}}`,
		[]string{"items at /t/1", "type at /t/0"}},
	{`{"type":"object","minProperties":1,"maxProperties":2,"propertyNames":{"maxLength":8},"dependentRequired":{"a":["b"]},"properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a"]}`,
		[]string{"maxProperties of the whole", "propertyNames of the whole", "dependentRequired of the whole"}},
	{`{"type":"object","required":["a"],"properties":{"a":{"type":"integer","not":{"multipleOf":2}}},"unevaluatedProperties":false}`,
		[]string{"not at /a", "unevaluatedProperties at /alpha"}},
	{`{"type":"object","required":["e"],"properties":{"e":{"oneOf":[{"type":"object","required":["k"],"properties":{"k":{"const":"a"}}},{"type":"string","minLength":3}]}}}`,
		[]string{"required at /e", "minLength at /e"}},
}

func TestViolationsAreNamed(t *testing.T) {
	for _, c := range broken {
		g, err := New(json.RawMessage(c.schema), Options{Object: true})
		if err != nil {
			t.Fatal(err)
		}
		judge := plain(t, json.RawMessage(c.schema))
		found := map[string]bool{}
		for seed := range int64(60) {
			raw, what, err := g.Violate(seed, found)
			if err != nil {
				t.Fatalf("%s: %v", c.schema, err)
			}
			v, err := decode(raw)
			if err != nil || judge.Validate(v) == nil {
				t.Fatalf("%s: %s is said to break %v, but is valid (%v)", c.schema, raw, what, err)
			}
			found[what.String()] = true
		}
		for _, w := range c.want {
			if !found[w] {
				t.Errorf("%s: %q is never broken, only %q", c.schema, w, sortedKeys(found))
			}
		}
	}
}

func TestNothingToViolate(t *testing.T) {
	for _, schema := range []string{`true`, `{}`, `{"title":"anything"}`} {
		g, err := New(json.RawMessage(schema), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if raw, what, err := g.Violate(1, nil); !errors.Is(err, ErrNoViolation) {
			t.Errorf("%s: %s breaks %v (%v)", schema, raw, what, err)
		}
	}
}

// TestCorpusViolations holds that one thing alone is wrong: mending it by the
// place that is named leaves nothing else that the validator blames.
func TestCorpusViolations(t *testing.T) {
	total, none := 0, 0
	for _, tool := range corpus(t) {
		g, err := New(tool.schema, Options{Tool: tool.name, Hints: testHints(), Object: true})
		if err != nil {
			t.Fatal(err)
		}
		judge := plain(t, tool.schema)
		for seed := range int64(scale.N(5, 20)) {
			raw, what, err := g.Violate(seed, nil)
			if errors.Is(err, ErrNoViolation) {
				none++
				break
			}
			if err != nil {
				t.Fatalf("%s %s: %v", tool.server, tool.name, err)
			}
			total++
			v, err := decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			refusal := judge.Validate(v)
			if refusal == nil {
				t.Errorf("%s %s: %s is valid, and said to break %v", tool.server, tool.name, raw, what)
			}
			if token := what.Path[strings.LastIndexByte(what.Path, '/')+1:]; refusal != nil && !strings.Contains(refusal.Error(), strings.NewReplacer("~1", "/", "~0", "~").Replace(token)) {
				t.Errorf("%s %s: %s breaks %v, but the validator says %v", tool.server, tool.name, raw, what, refusal)
			}
		}
	}
	t.Logf("%d violations; %d tools forbid nothing", total, none)
}

func TestBoundaries(t *testing.T) {
	const schema = `{"type":"object","required":["n","s","l","e"],"properties":{"n":{"type":"integer","minimum":-3,"maximum":40},"s":{"type":"string","minLength":2,"maxLength":30},
 "l":{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":6},"e":{"enum":["first","middle","last"]},"o":{"type":"boolean"}},"additionalProperties":false}`
	g, err := New(json.RawMessage(schema), Options{Object: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for seed := range int64(200) {
		raw, err := g.Draw(seed, Boundary)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			N int
			S string
			L []bool
			E string
			O *bool
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		if v.N != -3 && v.N != -2 && v.N != 39 && v.N != 40 {
			t.Fatalf("%d is at no bound", v.N)
		}
		seen[v.N], seen[v.E], seen[v.O != nil] = true, true, true
		seen[[2]int{'s', len([]rune(v.S))}], seen[[2]int{'l', len(v.L)}] = true, true
	}
	for _, w := range []any{-3, 40, "first", "last", true, false, [2]int{'s', 2}, [2]int{'s', 30}, [2]int{'l', 1}, [2]int{'l', 6}} {
		if !seen[w] {
			t.Errorf("%v is never drawn", w)
		}
	}
}
