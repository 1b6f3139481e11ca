package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestGoldenDraws holds what every class draws for good: it must depend on
// neither the machine nor the order of anything.
func TestGoldenDraws(t *testing.T) {
	raw, err := os.ReadFile(ownDir + "tools/own.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	hints := testHints()
	hints.Literals = Literals{Texts: []string{"open sesame", "second word"}, Numbers: []string{"42"}, Lengths: []int{30}}
	var out bytes.Buffer
	for _, tool := range doc.Tools {
		g, err := New(tool.InputSchema, Options{Tool: tool.Name, Hints: hints, Object: true})
		if err != nil {
			t.Fatal(err)
		}
		c := g.Coverage()
		for class := Typical; class <= Invalid; class++ {
			for seed := range int64(3) {
				v, err := g.Draw(seed, class)
				fmt.Fprintf(&out, "%s %v %d %s %v\n", tool.Name, class, seed, v, err)
			}
		}
		for seed := range int64(4) {
			v, err := c.Draw(seed, Valid)
			c.Observe(v)
			w, what, broken := g.Violate(seed, nil)
			fmt.Fprintf(&out, "%s steered %d %s %v\n%s broken %d %s: %v %v\n", tool.Name, seed, v, err, tool.Name, seed, w, what, broken)
		}
	}
	const file = ownDir + "draws.golden"
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := bytes.Split(out.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	if len(got) != len(wanted) {
		t.Fatalf("%d lines, want %d", len(got), len(wanted))
	}
	for i := range got {
		if !bytes.Equal(got[i], wanted[i]) {
			t.Errorf("line %d: %s\nwant %s", i+1, got[i], wanted[i])
		}
	}
}
