package drift

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode"
)

// Whatever two logs hold, they are compared, and what is said of them is printable.
func FuzzWatch(f *testing.F) {
	one := meeting{name: "s", version: "1", capabilities: `"tools":{}`, tools: tool}
	two := meeting{name: "s", version: "2", instructions: "x", tools: tool + `,{"name":"new"}`, more: []string{called(5, "other", `{"u":"https://a.example/x"}`), `s {"jsonrpc":"2.0","id":9,"method":"sampling/createMessage"}`}}
	f.Add([]byte(one.log(0)), []byte(two.log(1)), []byte(`{"observed":[{"kind":"connect","target":"a.example:443"}]}`))
	f.Add([]byte("{"), []byte(`{"seq":1,"dir":"s2c","frame":{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"\u202e","inputSchema":{"properties":[1]}}]}}}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, first, second, report []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{
			"20261101T103200Z_srv_1.jsonl": first, "20261102T103200Z_srv_2.jsonl": second,
			"run/session.jsonl": first, "run/trace.jsonl": second, "run/report.json": report,
		} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		h, err := Watch(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, sessions := range h.Servers {
			for _, s := range sessions {
				for _, d := range s.Findings {
					if slices.ContainsFunc([]rune(d.Explanation), func(r rune) bool { return !unicode.IsPrint(r) }) || d.Severity < 1 || d.Severity > 3 {
						t.Errorf("%+v", d)
					}
				}
			}
		}
	})
}

// A schema is no change of itself, and one that is no object is not compared.
func FuzzChangeOf(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"type":"string"}},"required":["a"]}`), []byte(`{"properties":{"a":{"type":"string"},"b":true}}`))
	f.Add([]byte(`{"properties":{"a":1}}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if !json.Valid(before) || !json.Valid(after) {
			return // the wire refuses them
		}
		if kind := changeOf(before, before); kind != "unknown" && kind != "mutative" {
			t.Errorf("a schema differs from itself: %s", kind)
		}
		if kind := changeOf(before, after); !slices.Contains([]string{"additive", "mutative", "unknown"}, kind) {
			t.Errorf("%q", kind)
		}
	})
}
