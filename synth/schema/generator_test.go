package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
)

// satisfiable are schemas from which every class must draw valid values.
var satisfiable = []struct{ name, schema string }{
	{"types", `{"type":["null","boolean","integer","number","string","array","object"]}`},
	{"nothing said", `{}`},
	{"true", `true`},
	{"const", `{"const":{"a":[1,2.50,"x",null]}}`},
	{"enum against bounds", `{"enum":[1,5,9,"x",null],"minimum":4,"type":"integer"}`},
	{"object", `{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"c":{"type":"integer"}},"additionalProperties":{"type":"boolean"},"minProperties":4}`},
	{"property names", `{"type":"object","propertyNames":{"pattern":"^x-[a-z]{3}$"},"minProperties":3}`},
	{"pattern properties", `{"type":"object","patternProperties":{"^n[0-9]+$":{"type":"integer"}},"additionalProperties":false,"minProperties":2}`},
	{"tuple", `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false,"minItems":2}`},
	{"tuple of draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":{"type":"null"},"minItems":3}`},
	{"unique", `{"type":"array","items":{"enum":[1,2,3,4,5]},"uniqueItems":true,"minItems":5}`},
	{"unique booleans", `{"type":"array","items":{"type":"boolean"},"uniqueItems":true,"minItems":2}`},
	{"contains", `{"type":"array","items":{"type":"integer"},"contains":{"const":7},"minContains":2,"minItems":3}`},
	{"two contains", `{"type":"array","allOf":[{"contains":{"const":1}},{"contains":{"const":2}}]}`},
	{"bounds", `{"type":"number","exclusiveMinimum":0.1,"exclusiveMaximum":0.2}`},
	{"narrow bounds", `{"type":"number","minimum":1.00001,"maximum":1.00002}`},
	{"huge bounds", `{"type":"integer","minimum":1e30,"maximum":1e31}`},
	{"multiple", `{"type":"number","multipleOf":0.01,"minimum":5.015,"maximum":5.025}`},
	{"multiples", `{"type":"integer","allOf":[{"multipleOf":6},{"multipleOf":4}],"minimum":100}`},
	{"fraction and integer", `{"type":"integer","multipleOf":1.5,"minimum":1}`},
	{"long text", `{"type":"string","minLength":3000}`},
	{"short text", `{"type":"string","maxLength":1}`},
	{"pattern", `{"type":"string","pattern":"^[A-Z]{2,4}-[0-9]+$"}`},
	{"pattern and length", `{"type":"string","pattern":"^[a-z]+(-[a-z]+)*$","minLength":30,"maxLength":31}`},
	{"lookahead", `{"type":"string","pattern":"^(?=.*[A-Z])(?=.*\\d)[A-Za-z\\d]{8,}$"}`},
	{"backreference", `{"type":"string","pattern":"^(ab|cd)-\\1$"}`},
	{"unicode property", `{"type":"string","pattern":"^\\p{Lu}\\p{Ll}+$"}`},
	{"negated class", `{"type":"string","pattern":"^[^\\s/]+$"}`},
	{"two patterns", `{"type":"string","allOf":[{"pattern":"^a"},{"pattern":"b$"}]}`},
	{"format", `{"type":"string","format":"date-time"}`},
	{"format and length", `{"type":"string","format":"email","minLength":5,"maxLength":60}`},
	{"all formats", `{"type":"object","required":["a","b","c","d","e","f","g","h","i","j"],"properties":{"a":{"format":"ipv4","type":"string"},"b":{"format":"ipv6","type":"string"},"c":{"format":"uuid","type":"string"},"d":{"format":"duration","type":"string"},"e":{"format":"json-pointer","type":"string"},"f":{"format":"regex","type":"string"},"g":{"format":"hostname","type":"string"},"h":{"format":"uri-template","type":"string"},"i":{"format":"time","type":"string"},"j":{"format":"iri-reference","type":"string"}}}`},
	{"reference", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","required":["n"],"properties":{"n":{"$ref":"#/$defs/b"}}},"b":{"type":"integer","minimum":3}}}`},
	{"recursion", `{"type":"object","required":["v"],"properties":{"v":{"type":"integer"},"next":{"$ref":"#"},"kids":{"type":"array","items":{"$ref":"#"}}}}`},
	{"recursion through a choice", `{"$ref":"#/$defs/t","$defs":{"t":{"anyOf":[{"type":"integer"},{"type":"object","required":["l","r"],"properties":{"l":{"$ref":"#/$defs/t"},"r":{"$ref":"#/$defs/t"}}}]}}}`},
	{"all of", `{"allOf":[{"type":"object","required":["a"]},{"properties":{"a":{"type":"integer"}}},{"properties":{"a":{"minimum":10}}}]}`},
	{"one of", `{"oneOf":[{"type":"integer","minimum":5},{"type":"integer","maximum":10}]}`},
	{"discriminated", `{"oneOf":[{"type":"object","required":["k","x"],"properties":{"k":{"const":"a"},"x":{"type":"string"}}},{"type":"object","required":["k","y"],"properties":{"k":{"const":"b"},"y":{"type":"integer"}}}]}`},
	{"not", `{"type":"integer","minimum":0,"maximum":5,"not":{"multipleOf":2}}`},
	{"if", `{"type":"object","required":["k"],"properties":{"k":{"enum":["a","b"]}},"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["x"]},"else":{"required":["y"]}}`},
	{"dependent", `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"properties":{"c":{"type":"string"}},"required":["c"]}}}`},
	{"unevaluated", `{"type":"object","allOf":[{"properties":{"a":{"type":"integer"}}}],"unevaluatedProperties":false,"required":["a"]}`},
	{"old exclusive", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","minimum":3,"exclusiveMinimum":true,"maximum":4}`},
	{"awkward names", `{"type":"object","required":["a/b","~t","","__proto__","%41"],"properties":{"a/b":{"type":"string","format":"color"},"~t":{"type":"integer"},"%41":{"type":"string","description":"x"}}}`},
	{"default that is invalid", `{"type":"string","default":"abc","minLength":5}`},
}

func TestEveryDrawIsValid(t *testing.T) {
	for _, c := range satisfiable {
		t.Run(c.name, func(t *testing.T) {
			g, err := New(json.RawMessage(c.schema), Options{Hints: testHints()})
			if err != nil {
				t.Fatal(err)
			}
			if len(g.Notes()) > 0 {
				t.Errorf("notes: %q", g.Notes())
			}
			judge := plain(t, json.RawMessage(c.schema))
			for _, class := range allClasses {
				for seed := range int64(50) {
					raw, err := g.Draw(seed, class)
					if err != nil {
						t.Fatalf("%v %d: %v", class, seed, err)
					}
					v, err := decode(raw)
					if err != nil {
						t.Fatal(err)
					}
					if err := judge.Validate(v); err != nil {
						t.Fatalf("%v: %s: %v", class, raw, err)
					}
				}
			}
		})
	}
}

func TestSameSeedSameValue(t *testing.T) {
	for _, c := range satisfiable {
		for _, class := range allClasses {
			// Drawn in another order, from a generator that has seen other seeds.
			a, err := New(json.RawMessage(c.schema), Options{Hints: testHints()})
			if err != nil {
				t.Fatal(err)
			}
			b, err := New(json.RawMessage(c.schema), Options{Hints: testHints()})
			if err != nil {
				t.Fatal(err)
			}
			var forward, backward []string
			for seed := range int64(12) {
				raw, _ := a.Draw(seed, class)
				forward = append(forward, string(raw))
			}
			for seed := int64(11); seed >= 0; seed-- {
				raw, _ := b.Draw(seed, class)
				backward = append([]string{string(raw)}, backward...)
			}
			for i := range forward {
				if forward[i] != backward[i] {
					t.Fatalf("%s %v seed %d: %s and %s", c.name, class, i, forward[i], backward[i])
				}
			}
		}
	}
}

// TestGolden holds some draws for good: they must not depend on the machine.
func TestGolden(t *testing.T) {
	g, err := New(json.RawMessage(satisfiable[5].schema), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		seed  int64
		class Class
		want  string
	}{
		{1, TypicalRequired, `{"a":"The quarterly report is ready for review.","b":true,"c":9,"marketb7":true}`},
		{1, Valid, `{"a":"fZ%E<11F` + "`" + `x","b":false,"c":690,"project":false}`},
	} {
		raw, err := g.Draw(c.seed, c.class)
		if err != nil || string(raw) != c.want {
			t.Errorf("%v: %s, want %s (%v)", c.class, raw, c.want, err)
		}
	}
}

func TestErrors(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 200) + "true" + strings.Repeat("}", 200)
	for _, c := range []struct {
		name, schema string
		want         error
	}{
		{"false", `false`, ErrUnsatisfiable},
		{"contradiction", `{"type":"string","allOf":[{"type":"integer"}]}`, ErrUnsatisfiable},
		{"bounds", `{"type":"integer","minimum":5,"maximum":4}`, ErrUnsatisfiable},
		{"no multiple", `{"type":"integer","minimum":5,"maximum":7,"multipleOf":4}`, ErrUnsatisfiable},
		{"endless", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`, ErrUnsatisfiable},
		{"required but forbidden", `{"type":"object","required":["a"],"additionalProperties":false}`, ErrUnsatisfiable},
		{"empty enum", `{"enum":["a"],"type":"integer"}`, ErrUnsatisfiable},
		{"not anything", `{"not":{}}`, ErrUnsatisfiable},
		{"not an object", `{"type":"string"}`, ErrUnsatisfiable},
		{"huge text", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":999999999}}}`, ErrNotFound},
		{"huge array", `{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":999999999}}}`, ErrNotFound},
		{"not at all", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","not":{"type":"integer"}}}}`, ErrNotFound},
		{"huge number", `{"minimum":1e999999}`, ErrTooLarge},
		{"nested", deep, ErrTooLarge},
		{"exponential", exponential(40), ErrTooComplex},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			g, err := New(json.RawMessage(c.schema), Options{Object: true})
			if err == nil {
				_, err = g.Draw(1, Valid)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if d := time.Since(start); d > 3*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// exponential is a schema whose validation visits 2^n schemas.
func exponential(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"object"}}}`, n)
	return b.String()
}

func TestRepairs(t *testing.T) {
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"type":"string","required":true}}}`,
		`{"type":"object","properties":{"a":{"type":"any"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"https://example.com/x.json"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/nowhere"}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`,
		`{"$schema":"https://example.com/unknown","type":"object"}`,
		`{"type":"object","properties":{"a":{"minLength":-1,"enum":[]}}}`,
		`{"type":"object","properties":{"a":null}}`,
	} {
		g, err := New(json.RawMessage(schema), Options{Object: true})
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if len(g.Notes()) == 0 {
			t.Errorf("%s: nothing noted", schema)
		}
		if _, err := g.Draw(1, TypicalFull); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
	for _, raw := range []string{``, `[`, `{} {}`, `"x"`, `7`} {
		if _, err := New(json.RawMessage(raw), Options{}); err == nil && raw != "" && raw != `"x"` && raw != `7` {
			t.Errorf("%q compiles", raw)
		}
	}
}

func TestConcurrentDraws(t *testing.T) {
	g, err := New(json.RawMessage(satisfiable[5].schema), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := g.Draw(7, Valid)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, _ := g.Draw(7, Valid); string(got) != string(want) {
					t.Errorf("%s, want %s", got, want)
				}
			}
		})
	}
	wg.Wait()
}

const shrinkSchema = `{"type":"object","required":["path","mode"],"additionalProperties":false,"properties":{
 "path":{"type":"string","minLength":1,"maxLength":40},"mode":{"enum":["read","write","append"]},
 "code":{"type":"string","pattern":"^[A-Z]{2,4}-[0-9]+$"},"limit":{"type":"integer","minimum":1,"maximum":500},
 "opts":{"type":"array","maxItems":5,"items":{"anyOf":[{"type":"null"},{"type":"boolean"},{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]}]}}}}`

// TestShrinksToTheLeast lets gopter find and shrink a planted trigger.
func TestShrinksToTheLeast(t *testing.T) {
	g, err := New(json.RawMessage(shrinkSchema), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := gopter.DefaultTestParametersWithSeed(42)
	p.MinSuccessfulTests, p.Workers = 2000, 1
	r := prop.ForAll(func(v Value) bool {
		m := v.V.(map[string]any)
		n, _ := m["limit"].(json.Number)
		limit, _ := n.Int64()
		return len([]rune(m["path"].(string))) <= 3 || limit <= 37
	}, g.Gen(Valid)).Check(p)
	if r.Passed() || len(r.Args) != 1 {
		t.Fatalf("the trigger was not found: %v", r.Status)
	}
	if got, want := r.Args[0].Arg.(Value).String(), `{"limit":38,"mode":"read","path":"aaaa"}`; got != want {
		t.Errorf("shrunk to %s, want %s (from %s)", got, want, r.Args[0].OrigArg)
	}
}

func TestShrinksAreValidAndEnd(t *testing.T) {
	for _, c := range satisfiable {
		g, err := New(json.RawMessage(c.schema), Options{})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := g.Draw(3, Valid)
		if err != nil {
			t.Fatal(err)
		}
		v, _ := decode(raw)
		shrinker := g.Shrinker()
		current := any(Value{v})
		for step := 0; ; step++ {
			if step > 3000 {
				t.Fatalf("%s does not end at %v", c.name, current)
			}
			next, ok := shrinker(current)()
			if !ok {
				break
			}
			if err := g.Check(json.RawMessage(next.(Value).String())); err != nil {
				t.Fatalf("%s: %v: %v", c.name, next, err)
			}
			current = next
		}
	}
}
