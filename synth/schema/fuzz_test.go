package schema

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"
)

// FuzzSchema feeds hostile schemas: no panic, no hang, bounded memory, and
// whatever is drawn is valid.
func FuzzSchema(f *testing.F) {
	for _, c := range satisfiable {
		f.Add([]byte(c.schema), int64(1))
	}
	for _, s := range []string{
		exponential(12), `{"type":"string","pattern":"^(a+)+$","minLength":40}`, `{"pattern":"(((((a{1000}){1000}){1000})))"}`,
		`{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`, `{"items":{"$ref":"#"},"minItems":1000,"type":"array"}`,
		`{"type":"object","minProperties":100000}`, `{"$dynamicRef":"#x","$dynamicAnchor":"x"}`, `{"$id":"http://json-schema.org/draft-07/schema#"}`,
		`{"multipleOf":1e-300,"minimum":1e300}`, `{"oneOf":[{},{},{}]}`, `{"type":"array","uniqueItems":true,"items":{"type":"null"},"minItems":2}`,
		`{"properties":{"a":{"properties":{"a":{"$ref":"#"}},"required":["a"]}},"required":["a"],"patternProperties":{"":{"$ref":"#"}}}`,
	} {
		f.Add([]byte(s), int64(2))
	}
	for _, tool := range corpus(f)[:3] {
		f.Add([]byte(tool.schema), int64(3))
	}
	f.Fuzz(func(t *testing.T, raw []byte, seed int64) {
		if len(raw) > 1<<16 {
			t.Skip("larger than what is worth the time")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		drawHostile(t, raw, seed)
		if d := time.Since(start); d > 20*time.Second {
			t.Fatalf("took %v", d)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<30 {
			t.Fatalf("%d bytes", n)
		}
	})
}

func drawHostile(t *testing.T, raw []byte, seed int64) {
	g, err := New(json.RawMessage(raw), Options{Hints: testHints(), Tool: "write_file"})
	if err != nil {
		return
	}
	for _, class := range allClasses {
		v, err := g.Draw(seed, class)
		if err != nil {
			continue
		}
		if len(v) > 16<<20 {
			t.Fatalf("%d bytes drawn", len(v))
		}
		if !json.Valid(v) {
			t.Fatalf("not JSON: %.200q", v)
		}
		again, err := g.Draw(seed, class)
		if err == nil && string(again) != string(v) {
			t.Fatalf("%.200s and then %.200s", v, again)
		}
		if doc, err := decode(v); err == nil {
			g.simpler(doc)
		}
	}
	broken, what, err := g.Violate(seed, nil)
	if err == nil && (g.Check(broken) == nil || what.Keyword == "") {
		t.Fatalf("%.200s does not break %v", broken, what)
	}
	c := g.Coverage()
	for i := range int64(2) {
		if v, err := c.Draw(seed+i, Valid); err == nil {
			c.Observe(v)
		}
	}
	if n := c.Counts(); n.Enums.Reached > n.Enums.Total || n.Pairs.Reached > n.Pairs.Total {
		t.Fatalf("%+v", n)
	}
}

// FuzzReduce simplifies whatever compiles: each step compiles, and it ends.
func FuzzReduce(f *testing.F) {
	for _, c := range satisfiable {
		f.Add([]byte(c.schema))
	}
	f.Add([]byte(`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<12 {
			t.Skip("larger than what is worth the time")
		}
		doc, err := decode(raw)
		if err != nil || !compiles(doc) {
			return
		}
		next := Reducer()(Value{doc})
		for range 20 {
			w, ok := next()
			if !ok {
				return
			}
			if s := w.(Value).String(); !compiles(w.(Value).V) || len(s) >= len(key(doc)) {
				t.Fatalf("%s is no simpler %s", s, raw)
			}
		}
	})
}

// FuzzRegexp parses expressions and writes to them.
func FuzzRegexp(f *testing.F) {
	for _, s := range []string{`^[a-z]+$`, `(?:a|b){2,3}\d\p{L}[^x-z\]]`, `(?<n>a)\k<n>\1`, `\u{1F600}\x41\cA`, `a{,3}`, `[\d-x]`, `(?=.*\d)(?!x)a*?`, `((a*)*)*`} {
		f.Add(s, int64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed int64) {
		e := newEngine()
		re, err := e.compile(text)
		if err != nil {
			return
		}
		g := Generator{patterns: map[string]*pattern{}}
		p := g.pattern(re)
		src := NewSource(seed)
		for try := range 4 {
			if s, ok := p.write(newRand(src), 0, 100, Valid, try); ok && len(s) > 4*(2*maxTextEver+200) {
				t.Fatalf("%d bytes", len(s))
			}
		}
	})
}
