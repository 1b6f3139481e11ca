package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTreeFolds(t *testing.T) {
	t.Parallel()
	tr := newTree(json.RawMessage(`{"a": {"b": [1, "two"]}, "c": {}, "c": null}`))
	show := func() string {
		var b strings.Builder
		for i := range tr.nodes {
			b.WriteString(strings.TrimSpace(ansi.Strip(tr.line(theme{}, i))) + "|")
		}
		return b.String()
	}
	open := `▾|▾ a:|▾ b:|[0]: 1|[1]: "two"|c: {}|c: null|`
	if got := show(); got != open {
		t.Fatal(got)
	}
	tr.toggle(1)
	if got, want := show(), `▾|▸ a: { "b": [1, "two"]} (17 B)|c: {}|c: null|`; got != want {
		t.Fatal(got)
	}
	tr.toggle(1)
	tr.toggle(2)
	if got := show(); got != open {
		t.Fatal(got)
	}
}

// TestTreeOfMany: a long array comes in parts, and every part is reached.
func TestTreeOfMany(t *testing.T) {
	t.Parallel()
	n := 2*maxChildren + 7
	tr := newTree(json.RawMessage("[" + strings.TrimSuffix(strings.Repeat("0,", n), ",") + "]"))
	tr.toggle(0)
	for tr.nodes[len(tr.nodes)-1].rest > 0 {
		tr.toggle(len(tr.nodes) - 1)
	}
	if len(tr.nodes) != n+1 || tr.nodes[n].key != fmt.Sprintf("[%d]", n-1) {
		t.Fatalf("%d nodes, the last is %s", len(tr.nodes), tr.nodes[len(tr.nodes)-1].key)
	}
}

// FuzzTree: no JSON makes a line that acts on a terminal, however it is unfolded.
func FuzzTree(f *testing.F) {
	f.Add(`{"a": "\u001b[2J", "b": [{"c": ["\ud83d", 1e9]}]}`, uint8(1))
	f.Fuzz(func(t *testing.T, text string, at uint8) {
		if !json.Valid([]byte(text)) {
			return
		}
		tr := newTree(json.RawMessage(text))
		for range 4 {
			if int(at) < len(tr.nodes) {
				tr.toggle(int(at))
			}
			for i := range tr.nodes {
				check(t, "tree", []string{fit(tr.line(theme{true}, i), 80)}, [2]int{80, 1})
			}
		}
	})
}
