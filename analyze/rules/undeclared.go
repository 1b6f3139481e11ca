package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// undeclaredTools stands for all tools that were called without being declared: a
// server that answers to any name has one habit, not one a name.
const undeclaredTools = "(undeclared)"

// joinUndeclared is the run with one name for all undeclared tools.
func (r *Run) joinUndeclared() *Run {
	calls := map[int]bool{}
	for _, c := range r.Profile.Calls {
		if c.What == "tool" && !slices.ContainsFunc(r.Surface.Tools, func(t wire.Tool) bool { return t.Name == c.Tool }) {
			calls[c.N] = true
		}
	}
	if len(calls) == 0 {
		return r
	}
	joined, p := *r, *r.Profile
	p.Effects = slices.Clone(p.Effects)
	for i := range p.Effects {
		if calls[p.Effects[i].Call] {
			p.Effects[i].Tool = undeclaredTools
		}
	}
	joined.Profile = &p
	return &joined
}
