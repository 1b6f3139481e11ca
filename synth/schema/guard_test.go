package schema

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestMeet(t *testing.T) {
	t.Parallel()
	matching := func(expression string) string {
		if expression == "^a+$" {
			return "aa"
		}
		return ""
	}
	for _, c := range []struct {
		args, want string // "" for what cannot be met
		asks       []Ask
	}{
		{`{"p":"x","q":1}`, `{"p":"open","q":1}`, []Ask{{Parameter: "p", Test: "equals", Text: "open"}}},
		{`{"n":1}`, `{"n":4711}`, []Ask{{Parameter: "n", Test: "equals", Text: "4711", Number: true}}},
		{`{"n":"1"}`, `{"n":"4711"}`, []Ask{{Parameter: "n", Test: "equals", Text: "4711", Number: true}}},
		{`{}`, `{"hidden":"open"}`, []Ask{{Parameter: "hidden", Test: "equals", Text: "open"}}},
		{`{"o":{"p":"x"}}`, `{"o":{"p":"run:x.sh deep"}}`, []Ask{{Parameter: "p", Test: "begins", Text: "run:"}, {Parameter: "p", Test: "ends", Text: ".sh"}, {Parameter: "p", Test: "contains", Text: "deep"}}},
		{`{"l":[{"p":"x"}]}`, `{"l":[{"p":"aa"}]}`, []Ask{{Parameter: "p", Test: "matches", Text: "^a+$"}}},
		{`{"p":"x"}`, ``, []Ask{{Parameter: "p", Test: "matches", Text: "^b+$"}}},
		{`{"n":1}`, `{"n":101}`, []Ask{{Parameter: "n", Test: "above", Text: "100"}}},
		{`{"n":1}`, `{"n":4}`, []Ask{{Parameter: "n", Test: "below", Text: "5"}}},
		{`{"p":"ab"}`, `{"p":"abxx"}`, []Ask{{Parameter: "p", Test: "longer", Text: "3"}}},
		{`{"p":"abcdef"}`, `{"p":"ab"}`, []Ask{{Parameter: "p", Test: "shorter", Text: "3"}}},
		{`{"p":["x"]}`, `{"p":["open"]}`, []Ask{{Parameter: "p", Test: "equals", Text: "open"}}},
		{`{"p":"x"}`, ``, []Ask{{Parameter: "p", Test: "digest", Text: "00"}}},
		{`{"p":"x"}`, ``, []Ask{{Parameter: "p", Test: "longer", Text: "99999999999"}}},
		{`{"p":"x"}`, ``, nil},
	} {
		var args map[string]any
		d := json.NewDecoder(bytes.NewReader([]byte(c.args)))
		d.UseNumber()
		if err := d.Decode(&args); err != nil {
			t.Fatal(err)
		}
		g := Guard{Asks: c.asks}
		ok := g.Meet(args, matching)
		got, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%s with %+v: %s %t, want %s", c.args, c.asks, got, ok, c.want)
		}
	}
}

func FuzzMeet(f *testing.F) {
	f.Add(`{"p":"x"}`, "p", "begins", "run:", false)
	f.Add(`{"a":[{"n":1}]}`, "n", "above", "9", true)
	f.Fuzz(func(t *testing.T, args, parameter, test, text string, number bool) {
		var m map[string]any
		if json.Unmarshal([]byte(args), &m) != nil || m == nil {
			return
		}
		g := Guard{Asks: []Ask{{Parameter: parameter, Test: test, Text: text, Number: number}}}
		if !g.Meet(m, func(string) string { return "" }) {
			return
		}
		if _, err := json.Marshal(m); err != nil {
			t.Fatal(err)
		}
	})
}
