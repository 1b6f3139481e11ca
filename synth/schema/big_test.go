package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// TestLargeSchemas holds the time for schemas at the bounds, or a part of them.
func TestLargeSchemas(t *testing.T) {
	var wide, enum, choice strings.Builder
	for i := range scale.N(maxSchemaMaps/8, maxSchemaMaps-10) {
		fmt.Fprintf(&wide, `,"p%d":{"type":"string"}`, i)
		if i < 2500 {
			fmt.Fprintf(&choice, `,{"type":"object","required":["k"],"properties":{"k":{"const":%d}}}`, i)
		}
	}
	for i := range scale.N(60_000, 250_000) {
		fmt.Fprintf(&enum, `,%d`, i)
	}
	nested := strings.Repeat(`{"type":"object","required":["a"],"properties":{"a":`, 20) + `{"type":"string"}` + strings.Repeat(`}}`, 20)
	for name, schema := range map[string]string{
		"wide":   `{"type":"object","properties":{"x":{}` + wide.String() + `}}`,
		"enum":   `{"type":"object","required":["x"],"properties":{"x":{"enum":[0` + enum.String() + `]}}}`,
		"enums":  `{"type":"object","required":["x"],"properties":{"x":{"allOf":[{"enum":[0` + enum.String()[:enum.Len()/3] + `]},{"enum":[5,6,7,250000]}]}}}`,
		"choice": `{"oneOf":[` + choice.String()[1:] + `]}`,
		"nested": nested,
	} {
		start := time.Now()
		g, err := New(json.RawMessage(schema), Options{Object: true})
		compiled := time.Since(start)
		if err != nil {
			t.Logf("%s: %v after %v", name, err, compiled)
			continue
		}
		raw, err := g.Draw(1, Typical)
		t.Logf("%s: compiled in %v, drawn in %v: %d bytes, %v", name, compiled, time.Since(start)-compiled, len(raw), err)
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}
