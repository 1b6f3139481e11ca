package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

// ShownIn lists the calls, from one on, each of which for itself shows a finding.
// wanted has the rules of the findings by their fingerprints.
func ShownIn(run *Run, wanted map[string]string, from int) map[string][]int {
	out := map[string][]int{}
	for i := range run.Profile.Calls {
		n := run.Profile.Calls[i].N
		if n < from {
			continue
		}
		one := *run
		one.memory = nil
		p := *run.Profile
		p.Hits, p.Effects = nil, nil
		for _, h := range run.Profile.Hits {
			if h.Call == n {
				p.Hits = append(p.Hits, h)
			}
		}
		for _, e := range run.Profile.Effects {
			if e.Call == n || e.Call == 0 && e.Noise != "" {
				p.Effects = append(p.Effects, e)
			}
		}
		p.Reads = slices.DeleteFunc(slices.Clone(p.Reads), func(e finding.Effect) bool { return e.Call != n })
		p.Calls = slices.DeleteFunc(slices.Clone(p.Calls), func(c profile.Call) bool { return c.N > n })
		one.Profile = &p
		one.Wire.Detected = slices.DeleteFunc(slices.Clone(run.Wire.Detected), func(d Detected) bool { return d.Call != n })
		for _, fingerprint := range shown(&one, wanted, n) {
			out[fingerprint] = append(out[fingerprint], n)
		}
	}
	return out
}

// shown lists the wanted findings that a call shows, each once.
func shown(run *Run, wanted map[string]string, call int) []string {
	ids := map[string]bool{}
	for _, id := range wanted {
		ids[id] = true
	}
	var out []string
	for _, r := range All() {
		if !ids[r.ID] || r.Check == nil {
			continue
		}
		for _, f := range r.Check(run) {
			if f.Call != call {
				continue
			}
			for _, p := range f.Fingerprints() {
				if wanted[p] == r.ID && !slices.Contains(out, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}
