package profile

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// fileIn is a path in one call.
type fileIn struct {
	call int
	path string
}

// undo notes that a name is gone: what a call makes and takes away again has
// changed nothing.
func (b *Builder) undo(r *trace.Record) {
	if k := (fileIn{b.callOf(r), cleanProc(r.Path)}); r.OK() && len(b.undone) < maxEffects {
		b.undone[k] = true
	}
}

// Repeat is a call that was made twice in a row, word for word, and succeeded twice.
type Repeat struct {
	Tool         string
	First, Again int
	// More is what the second changed beyond the first: files and directories that
	// are there, or no longer there, after it, and that the first did not touch.
	More []finding.Effect
}

// Repeats compares the calls that repeat one another, in their order.
func (p *Profile) Repeats() []Repeat {
	var out []Repeat
	for i := 1; i < len(p.Calls); i++ {
		first, again := &p.Calls[i-1], &p.Calls[i]
		if again.Repeats == 0 || again.Repeats != first.N || first.Outcome != session.OutcomeOK || again.Outcome != session.OutcomeOK {
			continue
		}
		touched, made := map[string]bool{}, map[string]bool{}
		for _, e := range p.changes(first.N) {
			touched[e.Target] = true
		}
		changes := p.changes(again.N)
		for _, e := range changes {
			made[e.Target] = made[e.Target] || e.Kind == finding.FileWrite
		}
		r := Repeat{Tool: again.Tool, First: first.N, Again: again.N}
		for _, e := range changes {
			passing := made[e.Target] && p.undone[fileIn{again.N, e.Target}]
			if !touched[e.Target] && !passing && e.Rung != finding.RungAttempted && !e.Ambiguous {
				r.More = append(r.More, e)
			}
		}
		out = append(out, r)
	}
	return out
}

// changes are what a call made, wrote or deleted outside of scratch places.
func (p *Profile) changes(call int) []finding.Effect {
	var out []finding.Effect
	for _, e := range p.Effects {
		if e.Call == call && e.Noise == "" && slices.Contains([]finding.EffectKind{finding.FileWrite, finding.FileDelete}, e.Kind) {
			out = append(out, e)
		}
	}
	return out
}
