package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

// ShownIn lists the calls each of which, for itself, shows a finding.
func ShownIn(run *Run, rule, fingerprint string) []int {
	var out []int
	for i := range run.Profile.Calls {
		n := run.Profile.Calls[i].N
		one := *run
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
		p.Calls = slices.DeleteFunc(slices.Clone(p.Calls), func(c profile.Call) bool { return c.N > n })
		one.Profile = &p
		one.Wire.Detected = slices.DeleteFunc(slices.Clone(run.Wire.Detected), func(f finding.Finding) bool { return f.Call != n })
		if shows(&one, rule, fingerprint, n) {
			out = append(out, n)
		}
	}
	return out
}

func shows(run *Run, rule, fingerprint string, call int) bool {
	for _, r := range All() {
		if r.ID == rule && slices.ContainsFunc(r.Check(run), func(f finding.Finding) bool { return f.Fingerprint == fingerprint && f.Call == call }) {
			return true
		}
	}
	return false
}
