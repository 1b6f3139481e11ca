package synth

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`Example: {"action": "info", "n": 3, "deep": true, "tags": ["a", "b"], "of": {"x": null}}`: `[{"action":"info","deep":true,"n":3,"of":{"x":null},"tags":["a","b"]}]`,
		`{action: 'search', 'query': "it's",}`:                                                     `[{"action":"search","query":"it's"}]`,
		`{'force': False, 'rate': -1.5e3, 'none': None}`:                                           `[{"force":false,"none":null,"rate":-1.5e3}]`,
		`find(query="a \"b\"\n", limit=10) and find( ) and refind(query="x")`:                      `[{"limit":10,"query":"a \"b\"\n"},{}]`,
		`{"name": "find", "arguments": {"query": "x"}}`:                                            `[{"arguments":{"query":"x"},"name":"find"}]`,
		`{"a": 1, ...} {"b"} {c: } {"d": 1 {"e": 2}`:                                               `[{"e":2}]`,
		"{\"a\": \"no\nend\"} find(query=) find(\"x\") find(":                                      `null`,
		`{"a": {"b": {"c": {"d": {"e": {"f": {"g": 1}}}}}}}`:                                       `[{"b":{"c":{"d":{"e":{"f":{"g":1}}}}}}]`,
	} {
		var got []map[string]any
		take := func(m map[string]any) bool { got = append(got, m); return true }
		eachObject(text, take)
		eachCall(text, "find", take)
		if b, err := json.Marshal(got); err != nil || string(b) != want {
			t.Errorf("%s: %s, want %s (%v)", text, b, want, err)
		}
	}
}

func FuzzWritten(f *testing.F) {
	for _, seed := range []string{`{"a": [1, 'x', {b: None}]}`, `find(a="\u00e9\\", b=[])`, `{{{{"`, `find(find(a=`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		take := func(m map[string]any) bool {
			if _, err := json.Marshal(m); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(m) != ""
		}
		eachObject(text, take)
		eachCall(text, "find", take)
	})
}
