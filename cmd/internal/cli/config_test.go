package cli

import (
	"strings"
	"testing"
)

// Servers whose files would lie in one directory are numbered.
func TestServersOfOneDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "all.json", `{"mcpServers": {
		"a/b": {"command": "first"},
		"A-B": {"command": "second"},
		"a b": {"command": "third"},
		"c": {"command": "fourth"}}}`)
	f := &probeFlags{config: "all.json"}
	runs, err := f.runs(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range runs {
		got = append(got, o.Name)
	}
	if strings.Join(got, ",") != "a/b,A-B (2),a b (3),c" || len(f.bad) != 0 {
		t.Fatalf("%q are probed, and %d are not: %v", got, len(f.bad), f.bad)
	}
}
