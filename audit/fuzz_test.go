package audit

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Whatever a lockfile holds, what is taken of it is bounded.
func FuzzLockfile(f *testing.F) {
	names := append(slices.Sorted(maps.Keys(lockPatterns)), "package-lock.json", "npm-shrinkwrap.json")
	f.Add(uint(0), "example.org/a v1.0.0 h1:AAAA\n")
	f.Add(uint(len(names)-2), `{"packages":{"node_modules/a":{"version":"1","resolved":"http://a.example/a.tgz"},"x":{"link":true}}}`)
	f.Add(uint(2), "[[package]]\nname = \"a\"\nversion = \"1\"\n")
	f.Add(uint(3), "\"@a/b@npm:^1\":\n  version: \"1.0\"\n  resolved \"git+ssh://a.example/x#1\"\n")
	f.Fuzz(func(t *testing.T, which uint, src string) {
		name := names[which%uint(len(names))]
		r, err := Archive(t.Context(), "a", zipped(t, map[string]string{name: src, "x.js": ""}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Packages) > maxLocked {
			t.Errorf("%d packages", len(r.Packages))
		}
		for _, p := range r.Packages {
			if p.Name == "" || p.Version == "" || p.Ecosystem == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}

// Whatever a .gitignore holds, it names paths of its own directory alone, and its last word counts.
func FuzzIgnore(f *testing.F) {
	f.Add("a\n!b\n/c/\n**/d\ne/**\n[!a-z].js\n\\#x\n", "x/a", true)
	f.Add("[", "a", false)
	f.Add("[[]\n[]]\n[a-\n", "[", false)
	f.Fuzz(func(t *testing.T, text, name string, isDir bool) {
		var g ignores
		g.read("sub", []byte(text))
		if len(g) > maxPatterns {
			t.Fatalf("%d patterns", len(g))
		}
		if !strings.HasPrefix(name, "sub/") && g.has(name, isDir) {
			t.Errorf("%q is ignored by a file of another directory", name)
		}
		g.read("sub", []byte("\n!*\n"))
		if len(g) < maxPatterns && g.has("sub/"+name, isDir) && !strings.Contains(name, "\n") {
			t.Errorf("%q is ignored after all was taken back", name)
		}
	})
}
