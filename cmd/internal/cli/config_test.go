package cli

import (
	"strings"
	"testing"
)

// Two servers whose files would lie in one directory are not both probed: the report
// of the second would take the place of the first's.
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
	if strings.Join(got, ",") != "a/b,c" || len(f.bad) != 2 {
		t.Fatalf("%q are probed, and %d are not: %v", got, len(f.bad), f.bad)
	}
	for i, name := range []string{`"A-B"`, `"a b"`} {
		if text := f.bad[i].Error(); !strings.Contains(text, name) || !strings.Contains(text, `"a/b"`) || !strings.HasPrefix(text, "all.json:") {
			t.Error(text)
		}
	}
}
