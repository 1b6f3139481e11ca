package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// bundledFlow is a bundle with a flow on its line 4. Its map leads each line to the one ten lines further down.
const bundledFlow = "import { execSync } from 'child_process';\nimport { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\nconst s = new McpServer({});\n" +
	"s.tool('t', {}, async ({ host }) => execSync('ping ' + host));\n//# sourceMappingURL=index.js.map\n"

// mapTo is a map to one source, with its text or without.
func mapTo(t *testing.T, source string, content *string) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"version": 3, "sources": []string{source}, "sourcesContent": []*string{content}, "mappings": "AAUA" + strings.Repeat(";AACA", 5)})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A finding in a bundle stands at its original where the map can be believed, and at the bundle else.
func TestOriginalsOfBundles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x\n", 20)
	for _, c := range []struct {
		name, source string
		content      *string
		tree         string // the text of src/a.ts in the tree
		trusted      bool
	}{
		{"a text in the map", "../src/a.ts", &long, "", true},
		{"a file of the tree", "../src/a.ts", nil, long, true},
		{"a short file of the tree", "../src/a.ts", nil, "x\n", false},
		{"no text", "../src/a.ts", nil, "", false},
		{"out of the tree", "../../src/a.ts", &long, "", false},
		{"an absolute path", "/src/a.ts", &long, "", false},
		{"an address", "webpack://x/./src/a.ts", &long, "", false},
		{"another system's path", `..\src\a.ts`, &long, "", false},
		{"other people's code", "../node_modules/a/index.ts", &long, "", false},
		{"a test", "../tests/a.ts", &long, "", false},
		{"documentation", "../src/a.md", &long, "", false},
		{"itself", "index.js", &long, "", false},
		{"a hidden name", "../src/\u202ea.ts", &long, "", false},
	} {
		files := map[string]string{"dist/index.js": bundledFlow, "dist/index.js.map": mapTo(t, c.source, c.content)}
		if c.tree != "" {
			files["src/a.ts"] = c.tree
		}
		r, err := Dir(t.Context(), write(t, files))
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "src/a.ts:14 in dist/index.js:4", false: "dist/index.js:4 in "}[c.trusted]
		n := 0
		for _, f := range r.Findings {
			if f.Rule != TaintCommand && f.Rule != ShellInjection {
				continue
			}
			n++
			got := fmt.Sprintf("%s:%d in ", f.Location.Path, f.Location.Line)
			if f.Generated != nil {
				got += fmt.Sprintf("%s:%d", f.Generated.Path, f.Generated.Line)
			}
			last := f.Evidence[len(f.Evidence)-1]
			if got != want || last.Location.Path != f.Location.Path || f.Read().Path != "dist/index.js" {
				t.Errorf("%s: %s %s, %s:%d; want %s", c.name, f.Rule, got, last.Location.Path, last.Location.Line, want)
			}
		}
		if n == 0 {
			t.Errorf("%s: no finding", c.name)
		}
	}
}

// What a map says moves no fingerprint.
func TestOriginalsKeepFingerprints(t *testing.T) {
	t.Parallel()
	long, prints := strings.Repeat("x\n", 20), map[string]bool{}
	for _, source := range []string{"../src/a.ts", "../src/b.ts", "/a.ts"} {
		r, err := Dir(t.Context(), write(t, map[string]string{"dist/index.js": bundledFlow, "dist/index.js.map": mapTo(t, source, &long)}))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Rule == TaintCommand {
				prints[f.Fingerprint] = true
			}
		}
	}
	if len(prints) != 1 {
		t.Errorf("%d fingerprints", len(prints))
	}
}
