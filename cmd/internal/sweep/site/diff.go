package site

import (
	"cmp"
	"slices"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

// Change is how a server differs between two results.
type Change struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	// From and To are nil where the server has no result in one of them.
	From *Side `json:"from,omitempty"`
	To   *Side `json:"to,omitempty"`
	// New are findings that only To has, Gone those that only From has.
	New  []store.Finding `json:"new,omitempty"`
	Gone []store.Finding `json:"gone,omitempty"`
	// Started is what the server did in To alone, Stopped what it did in From alone, where both are known.
	Started []string `json:"started,omitempty"`
	Stopped []string `json:"stopped,omitempty"`
}

// Side is one of the two results.
type Side struct {
	Version string `json:"version"`
	Verdict string `json:"verdict"`
	Error   string `json:"error,omitempty"`
}

func side(e *store.Entry) *Side {
	if e == nil {
		return nil
	}
	return &Side{Version: e.Version, Verdict: e.Verdict, Error: e.Error}
}

// Compare says how one server differs between two results; ok is false where it does not.
// A result that is an error says nothing of findings: they are neither new nor gone. All
// findings of a server that was not there are new.
func Compare(from, to *store.Entry) (c Change, ok bool) {
	c.From, c.To = side(from), side(to)
	known := cmp.Or(to, from)
	c.Key, c.Name = known.Key, known.Name
	var was, is []store.Finding
	if from != nil {
		was = from.Findings
	}
	if to != nil {
		is = to.Findings
	}
	if (from == nil || from.Verdict != store.VerdictError) && (to == nil || to.Verdict != store.VerdictError) {
		c.New, c.Gone = without(is, was), without(was, is)
	}
	if from != nil && to != nil && from.Behaviours != nil && to.Behaviours != nil {
		c.Started, c.Stopped = others(to.Behaviours, from.Behaviours), others(from.Behaviours, to.Behaviours)
	}
	return c, from == nil || to == nil || from.Verdict != to.Verdict || len(c.New)+len(c.Gone)+len(c.Started)+len(c.Stopped) > 0
}

// others are the texts of a list that another list lacks.
func others(list, without []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(without, s) })
}

func without(list, others []store.Finding) []store.Finding {
	known := map[string]bool{}
	for _, f := range others {
		known[f.Fingerprint] = true
	}
	var out []store.Finding
	for _, f := range list {
		if !known[f.Fingerprint] {
			out = append(out, f)
		}
	}
	return out
}

// Diff says which servers differ between two sweeps, by key.
func Diff(from, to []store.Entry) []Change {
	pairs := map[string]*[2]*store.Entry{}
	for i, list := range [][]store.Entry{from, to} {
		for j := range list {
			e := &list[j]
			if pairs[e.Key] == nil {
				pairs[e.Key] = &[2]*store.Entry{}
			}
			pairs[e.Key][i] = e
		}
	}
	var out []Change
	for _, p := range pairs {
		if c, ok := Compare(p[0], p[1]); ok {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Key, b.Key) })
	return out
}
