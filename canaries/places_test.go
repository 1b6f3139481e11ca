package canaries

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Places take what each span compared with each other one takes.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(what string) []span {
			return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) span {
				from := rapid.IntRange(0, 60).Draw(rt, "from")
				return span{from: from, to: from + rapid.IntRange(1, 9).Draw(rt, "length")}
			}), 0, 12).Draw(rt, what)
		}
		plain := draw("first")
		p := joined(slices.Clone(plain))
		for _, s := range draw("then") {
			want := !slices.ContainsFunc(plain, func(o span) bool { return s.from < o.to && o.from < s.to })
			var free bool
			if p, free = p.with(s.from, s.to); free != want {
				rt.Fatalf("%v beside %v: free %v", s, plain, free)
			}
			if free {
				plain = append(plain, s)
			}
		}
		if !slices.IsSortedFunc(p, func(x, y span) int { return x.from - y.from }) {
			rt.Fatalf("%v is out of order", p)
		}
	})
}
