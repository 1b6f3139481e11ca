package canaries

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	// outerLayers can stand around every other layer.
	outerLayers = oneOf(`base64|base64url|base32|hex|HEX|percent all|html|\u|\x|quoted|decimal|decimal ,|decimal 3|hex pairs|hex colons|0x|bits|gzip|zlib`)
	// innerLayers stand around a decoy itself. Those of base 85 are left out: nearly every
	// character is a digit, so what stands behind them may be more of it.
	innerLayers = oneOf("base58|utf-16le|utf-16be|xor 0x5a|xor 0x83|rot5|rot13|rot47|rot5 of 94|reversed|pairs|nibbles|spaced|listed")
)

// A decoy in any chain of up to three layers is found in any text.
func TestChainsOfLayers(t *testing.T) {
	s := shared()
	outer := slices.Sorted(maps.Keys(outerLayers))
	inner := slices.Sorted(maps.Keys(innerLayers))
	rapid.Check(t, func(t *rapid.T) {
		c := drawCanary(t, s)
		b, chain := []byte(c.Value), []string{}
		for n := rapid.IntRange(1, 3).Draw(t, "layers"); len(chain) < n && len(b) < 1<<10; {
			name := rapid.SampledFrom(outer).Draw(t, "layer")
			if len(chain) == 0 && rapid.Bool().Draw(t, "inner") {
				name = rapid.SampledFrom(inner).Draw(t, "layer")
			}
			if len(chain) > 0 && !covered(name, chain[len(chain)-1]) {
				continue
			}
			b, chain = layered[name](b), append(chain, name)
		}
		around := rapid.StringMatching(`[ -~\n]{0,99}`)
		edge := rapid.SampledFrom([]string{`"`, "\n", ": "}).Draw(t, "edge")
		text := around.Draw(t, "before") + edge + string(b) + edge + around.Draw(t, "after")
		if hits, err := s.FindBody([]byte(text), nil); err != nil || !has(hits, c.ID) {
			t.Fatalf("%s in %s is not found in %q", c.ID, strings.Join(chain, " in "), text)
		}
	})
}
