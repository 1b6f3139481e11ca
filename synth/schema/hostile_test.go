package schema

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// hostile are schemas that are made to hang or to fill the memory.
func hostile() map[string]string {
	deep := func(open, closing string, n int) string {
		return strings.Repeat(open, n) + "{}" + strings.Repeat(closing, n)
	}
	var wide, cycle strings.Builder
	for i := range scale.N(40_000, 200_000) {
		fmt.Fprintf(&wide, `"p%d":{"type":"string","minLength":%d},`, i, i%50)
	}
	for i := range 2_000 {
		fmt.Fprintf(&cycle, `"c%d":{"anyOf":[{"$ref":"#/$defs/c%d"},{"$ref":"#/$defs/c%d"},{"type":"object","required":["x"],"properties":{"x":{"$ref":"#/$defs/c%d"}}}]},`,
			i, (i+1)%2_000, (i*7)%2_000, (i*13)%2_000)
	}
	object := func(property string) string {
		return `{"type":"object","required":["x"],"properties":{"x":` + property + `}}`
	}
	return map[string]string{
		"megabytes":              `{"type":"object","properties":{` + wide.String() + `"last":{}}}`,
		"ten megabytes of text":  object(`{"description":"` + strings.Repeat("long ", 2<<20) + `","type":"string"}`),
		"nested below the limit": deep(`{"type":"object","required":["a"],"properties":{"a":`, `}}`, 40),
		"nested":                 deep(`{"not":`, `}`, 100_000),
		"nested all of":          deep(`{"allOf":[`, `]}`, 60),
		"nested not":             deep(`{"not":`, `}`, 120),
		"nested if":              deep(`{"if":{"type":"object"},"then":{},"else":`, `}`, 60),
		"huge numbers":           object(`{"type":"integer","minimum":1e300,"maximum":1e308,"multipleOf":7}`),
		"huge lengths":           object(`{"type":"string","minLength":2000000000}`),
		"long text":              object(`{"type":"string","minLength":` + fmt.Sprint(scale.N(20_000, 60_000)) + `,"pattern":"^(a|b)*$"}`),
		"huge arrays":            object(`{"type":"array","minItems":4000,"items":{"type":"array","minItems":4000,"items":{"type":"array","minItems":4000}}}`),
		"huge objects":           object(`{"type":"object","minProperties":4000,"additionalProperties":{"type":"object","minProperties":4000}}`),
		"unique and many":        object(`{"type":"array","uniqueItems":true,"minItems":` + fmt.Sprint(scale.N(900, 3000)) + `,"items":{"type":"integer","minimum":0,"maximum":` + fmt.Sprint(scale.N(600, 2000)) + `}}`),
		"catastrophe":            object(`{"type":"string","pattern":"^(([a-z])+.)+[A-Z]([a-z])+$","minLength":200}`),
		"catastrophe twice":      object(`{"type":"string","allOf":[{"pattern":"^(a|a)*b$"},{"pattern":"^(x+x+)+y$"}],"minLength":60}`),
		"counted repeats":        object(`{"type":"string","pattern":"^(((a{1,900}){1,900}){1,900}){1,900}$"}`),
		"many patterns":          object(`{"type":"object","patternProperties":{` + strings.TrimSuffix(strings.Repeat(`"^(a+)+$":{},"^(b+)+c":{},`, 200), ",") + `},"minProperties":5}`),
		"cycles":                 `{"$ref":"#/$defs/c0","$defs":{` + cycle.String() + `"end":{}}}`,
		"a cycle of references":  `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		"doubling":               exponential(60),
		"doubling of not":        strings.ReplaceAll(exponential(24), `"allOf"`, `"oneOf"`),
		"dynamic":                `{"$dynamicAnchor":"n","type":"object","required":["a","b"],"properties":{"a":{"$dynamicRef":"#n"},"b":{"$dynamicRef":"#n"}}}`,
		"a great enum":           object(`{"enum":[` + strings.Repeat(`{"a":[1,2,3]},`, scale.N(20_000, 60_000)) + `0]}`),
		"very many types":        object(`{"type":[` + strings.Repeat(`"string",`, scale.N(60_000, 300_000)) + `"null"]}`),
		"names that clash":       object(`{"type":"object","propertyNames":{"pattern":"^(?!.*a).*a"},"minProperties":1}`),
	}
}

// TestHostileSchemas holds the time and the memory that one schema may take:
// compiling, drawing, breaking, counting and shrinking together.
func TestHostileSchemas(t *testing.T) {
	const mostTime, mostHeap = 15 * time.Second, 1 << 30
	list := hostile()
	for _, name := range sortedKeys(list) {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			peak, stop := watchHeap()
			start := time.Now()
			drawHostile(t, []byte(list[name]), 1)
			took, most := time.Since(start), stop()
			t.Logf("%d bytes: %v, at most %d MB", len(list[name]), took.Round(time.Millisecond), most>>20)
			if took > mostTime {
				t.Errorf("took %v", took)
			}
			if most > peak+mostHeap {
				t.Errorf("took %d MB", (most-peak)>>20)
			}
		})
	}
}

// watchHeap samples the heap until stop is called, which returns the most that was seen.
func watchHeap() (before uint64, stop func() uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before = m.HeapInuse
	end, result := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		most := before
		for {
			select {
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			case <-end:
				result <- most
				return
			}
		}
	}()
	return before, func() uint64 { close(end); return <-result }
}

// TestNothingIsFetched holds that a reference never leaves the documents given,
// whatever its scheme.
func TestNothingIsFetched(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:9/x.json", "file:///etc/passwd", "ftp://example.com/a", "coalmine:///other.json", "//example.com/a", "data:application/json,{}"} {
		raw, err := json.Marshal(map[string]any{"type": "object", "required": []string{"a"}, "properties": map[string]any{"a": map[string]any{"$ref": url}}})
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(raw, Options{})
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		if notes := strings.Join(g.Notes(), "; "); !strings.Contains(notes, "leads nowhere") {
			t.Errorf("%s: %q", url, notes)
		}
	}
}
