package install

import (
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	script := func(name, text string) Script { return Script{Path: "bin/" + name, Text: text} }
	for _, c := range []struct {
		name, bin string
		programs  []string
		scripts   []Script
		want      string
	}{
		{"the package's own", "", []string{"other", "notes"}, nil, "notes"},
		{"aliases of one function", "", []string{"note", "take-notes"}, []Script{script("note", "main()"), script("take-notes", "main()")}, "note"},
		{"two functions", "", []string{"note", "take-notes"}, []Script{script("note", "main()"), script("take-notes", "serve()")}, ""},
		{"the only server", "", []string{"note", "note-mcp"}, nil, "note-mcp"},
		{"two servers", "", []string{"a-mcp", "b-mcp"}, nil, ""},
		{"asked for", "b-mcp", []string{"a-mcp", "b-mcp"}, nil, "b-mcp"},
		{"asked for, and not there", "c", []string{"a", "b-mcp"}, nil, ""},
	} {
		tree := &Tree{Name: "notes", Spec: Spec{Kind: KindPyPI, Name: "notes"}, Scripts: c.scripts}
		for _, p := range c.programs {
			tree.Bins = append(tree.Bins, Bin{p, "bin/" + p})
		}
		got, err := tree.Choose(c.bin)
		if got.Name != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q of %s", c.name, got.Name, err, c.want, strings.Join(c.programs, ", "))
		}
	}
}
