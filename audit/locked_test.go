package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLockedPackages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, want string }{
		"package-lock.json":   {`{"packages":{"":{"version":"1.0.0"},"node_modules/a":{"version":"1.2.3"},"node_modules/a/node_modules/@b/c":{"version":"2.0.0"},"packages/own":{"version":"1.0.0"},"node_modules/own":{"link":true}}}`, "npm @b/c 2.0.0; npm a 1.2.3"},
		"npm-shrinkwrap.json": {`{"dependencies":{"a":{"version":"1.2.3"}}}`, "npm a 1.2.3"},
		"yarn.lock":           {"# yarn\n\n\"@a/b@^1.0.0\", \"@a/b@^1.1\":\n  version \"1.1.2\"\n\nc@^2:\n  version \"2.0.0\"\n", "npm @a/b 1.1.2; npm c 2.0.0"},
		"pnpm-lock.yaml":      {"packages:\n\n  '@a/b@1.0.0':\n    resolution: {}\n  c@2.0.0(d@1.0.0):\n    resolution: {}\n", "npm @a/b 1.0.0; npm c 2.0.0"},
		"uv.lock":             {"[[package]]\nname = \"a\"\nversion = \"1.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0\"\n", "PyPI a 1.0; PyPI b 2.0"},
		"Cargo.lock":          {"[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n", "crates.io a 1.0.0"},
		"go.sum":              {"example.com/a v1.0.0 h1:x=\nexample.com/a v1.0.0/go.mod h1:y=\n", "Go example.com/a 1.0.0"},
		"other.lock":          {"x", ""},
	} {
		var got []string
		for _, p := range lockedPackages("d/"+name, c.src) {
			got = append(got, fmt.Sprint(p.Ecosystem, " ", p.Name, " ", p.Version))
			if p.Path != "d/"+name {
				t.Errorf("%+v", p)
			}
		}
		slices.Sort(got)
		if all := strings.Join(got, "; "); all != c.want {
			t.Errorf("%s: %s, want %s", name, all, c.want)
		}
	}
}
