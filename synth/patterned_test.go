package synth

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// A tool whose source says by a regular expression what it takes gets that, though its schema and its refusals do not say so.
func TestPatternsOfTheSource(t *testing.T) {
	t.Parallel()
	const two = `{"type":"object","properties":{"alpha":{"type":"string"},"beta":{"type":"string"}},"required":["alpha","beta"]}`
	matches := func(expression string, v any) bool {
		s, _ := v.(string)
		return regexp.MustCompile(`^(?:` + expression + `)$`).MatchString(s)
	}
	for _, c := range []struct {
		name     string
		schema   string
		patterns []schema.Pattern
		right    func(args map[string]any) bool
	}{
		{"by the argument's name", `{"type":"object","properties":{"vault":{"type":"string"}},"required":["vault"]}`, []schema.Pattern{{Name: "OTHER", Expression: `\d{9}`}, {Name: "VAULT_NAME", Expression: `[a-z]{3}--[0-9]{2}`}},
			func(a map[string]any) bool { return matches(`[a-z]{3}--[0-9]{2}`, a["vault"]) }},
		{"two at once", two, []schema.Pattern{{Name: "ALPHA", Expression: `<[a-z]>`}, {Name: "beta", Expression: `\([0-9]\)`}},
			func(a map[string]any) bool { return matches(`<[a-z]>`, a["alpha"]) && matches(`\([0-9]\)`, a["beta"]) }},
		{"without a name in common", `{"type":"object","properties":{"thing":{"type":"string"}},"required":["thing"]}`, []schema.Pattern{{Name: "A", Expression: `=[0-9]`}, {Name: "B", Expression: `![0-9]`}},
			func(a map[string]any) bool { return matches(`![0-9]`, a["thing"]) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(wire.Tool{})
			f.surface.Tools = []wire.Tool{tool("check", c.schema)}
			f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
				var args map[string]any
				if json.Unmarshal(raw, &args) != nil || !c.right(args) {
					return refusal("that is none"), nil
				}
				return success("ok"), nil
			}
			cfg := Config{Session: f, Surface: f.surface, Now: f.clock, Calls: 3, Hints: WorkspaceHints("/w", 7, noFile)}
			cfg.Hints.Literals.Patterns = c.patterns
			r, err := Drive(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if r.Tools[0].OK == 0 {
				t.Errorf("no call succeeded: %q", f.log)
			}
		})
	}
}

// A value that people write comes before one that is made after the expression.
func TestFittingValues(t *testing.T) {
	t.Parallel()
	d := &driver{}
	for expression, want := range map[string]string{`\d{4}-\d{2}-\d{2}`: "2026-03-14", `[a-z][a-z0-9-]{2,30}`: "example", `[A-Z]{3}`: "EUR", `\d+(?:\.\d+){2}`: "1.2.3"} {
		if got := d.fitting(fitted{whole: regexp.MustCompile(`^(?:` + expression + `)$`), text: expression}); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}
