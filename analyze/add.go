package analyze

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

// Add joins to a result what a further start of the same server showed that the
// first did not: its new findings, whose evidence says in which start it lies, and
// the reasons for which that start may have hidden something.
func Add(res, more *Result, start string, opts Options) {
	known := map[string]bool{}
	for _, f := range res.Findings {
		known[f.Fingerprint] = true
	}
	for _, f := range more.Findings {
		if known[f.Fingerprint] {
			continue
		}
		f.Evidence = slices.Clone(f.Evidence)
		for i := range f.Evidence {
			f.Evidence[i].Text = start + ": " + f.Evidence[i].Text
		}
		res.Findings = append(res.Findings, f)
	}
	rules.Sort(res.Findings)
	for _, r := range more.Inconclusive {
		res.doubt(start + ": " + r)
	}
	seen := map[string]bool{}
	key := func(e *finding.Effect) string {
		k := string(e.Kind) + "\x00" + e.Target + "\x00" + e.Tool + "\x00" + string(e.Rung)
		if e.Phase == finding.PhaseBuild {
			k += "\x00build" // a profile of its own
		}
		return k
	}
	for i := range res.Observed {
		seen[key(&res.Observed[i])] = true
	}
	for _, e := range more.Observed {
		if !seen[key(&e)] {
			res.Observed = append(res.Observed, e)
		}
	}
	for _, r := range more.Coverage.Reached {
		res.Coverage.Reached = append(res.Coverage.Reached, start+": "+r)
	}
	addAccepted(res, more)
	res.Coverage.Opaque += more.Coverage.Opaque
	res.Coverage.Lost += more.Coverage.Lost
	res.Verdict = verdict(res, opts.FailOn)
}

// Doubt joins to a result a reason for which something may have stayed hidden.
func Doubt(res *Result, reason string, opts Options) {
	res.doubt(text.Printable(reason, 300))
	res.Verdict = verdict(res, opts.FailOn)
}

func (r *Result) doubt(reason string) {
	if !slices.Contains(r.Inconclusive, reason) && len(r.Inconclusive) < maxReasons {
		r.Inconclusive = append(r.Inconclusive, reason)
	}
}

// addAccepted joins the findings that the policy suppressed only in the further start.
func addAccepted(res, more *Result) {
	if res.Policy == nil || more.Policy == nil {
		return
	}
	for _, a := range more.Policy.Accepted {
		if !slices.ContainsFunc(res.Policy.Accepted, func(b Accepted) bool { return a.Fingerprint == b.Fingerprint }) {
			res.Policy.Accepted = append(res.Policy.Accepted, a)
		}
	}
}

// Cover takes from a further start what the first did not call at all, and from its
// doubts what the first has answered: a tool may need another that was left out.
func Cover(res, more *Result) {
	for i := range res.Coverage.Tools {
		t := &res.Coverage.Tools[i]
		k := slices.IndexFunc(more.Coverage.Tools, func(m ToolCoverage) bool { return m.Name == t.Name && m.What == t.What && m.Calls > 0 })
		if t.Calls > 0 || k < 0 {
			continue
		}
		*t = more.Coverage.Tools[k]
		res.Inconclusive = slices.DeleteFunc(res.Inconclusive, func(r string) bool { return r == neverCalled(t.Name) })
	}
	more.Inconclusive = slices.DeleteFunc(more.Inconclusive, func(r string) bool {
		return slices.ContainsFunc(res.Coverage.Tools, func(t ToolCoverage) bool {
			return t.Calls > 0 && r == neverCalled(t.Name) || t.OK > 0 && (r == onlyErrors(t.Name) || r == neverAnswered(t.Name))
		})
	})
}

func neverCalled(tool string) string   { return ofTool(tool, "was never called") }
func neverAnswered(tool string) string { return ofTool(tool, "never answered") }
func onlyErrors(tool string) string    { return ofTool(tool, "answered every call with an error") }

func ofTool(tool, what string) string { return "tool “" + text.Printable(tool, 80) + "” " + what }
