package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// undeclaredTools stands for all tools that were called without being declared: a
// server that answers to any name has one habit, not one a name.
const undeclaredTools = "(undeclared)"

// Joined is the run as rules look at it: with one name, "(undeclared)", for all undeclared
// tools in the effects, which keep their indexes.
func (r *Run) Joined() *Run {
	calls := map[int]bool{}
	for i := range r.Profile.Calls {
		if c := &r.Profile.Calls[i]; r.NameOf(c) == undeclaredTools {
			calls[c.N] = true
		}
	}
	if len(calls) == 0 {
		return r
	}
	joined, p := *r, *r.Profile
	p.Effects, p.Reads = slices.Clone(p.Effects), slices.Clone(p.Reads)
	for _, list := range [][]finding.Effect{p.Effects, p.Reads} {
		for i := range list {
			if calls[list[i].Call] {
				list[i].Tool = undeclaredTools
			}
		}
	}
	joined.Profile = &p
	return &joined
}

// NameOf is the tool, resource or prompt of a call as the effects of Joined have it.
func (r *Run) NameOf(c *profile.Call) string {
	if c.What == "tool" && !slices.ContainsFunc(r.Surface.Tools, func(t wire.Tool) bool { return t.Name == c.Tool }) {
		return undeclaredTools
	}
	return c.Tool
}
