package secrets

import (
	"path"
	"testing"

	"pgregory.net/rapid"
)

// The cut patterns match what path.Match says.
func TestPatternsMatchAsGlobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOf(rapid.SampledFrom([]rune(".envtfsajsonkubecig-_*x"))).Draw(t, "name")
		if p := rapid.SampledFrom(patterns).Draw(t, "pattern"); rapid.Bool().Draw(t, "filled") {
			for _, r := range p {
				if r == '*' {
					name += rapid.SampledFrom([]string{"", "a", ".", "service-account", ".tfvars"}).Draw(t, "star")
				} else {
					name += string(r)
				}
			}
		}
		for i, p := range patterns {
			if want, _ := path.Match(p, name); matches(globs[i], name) != want {
				t.Fatalf("%q as %q: not %t", name, p, want)
			}
		}
	})
}
