package analyze

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Add joins to a result what a further start of the same server showed that the
// first did not: its new findings and those that are worse than before, whose evidence says in
// which start it lies, and the reasons for which that start may have hidden something.
func Add(res, more *Result, start string, opts Options) {
	known := map[string]int{}
	for i := range res.Findings {
		known[res.Findings[i].Fingerprint] = i
	}
	for _, f := range more.Findings {
		i, ok := known[f.Fingerprint]
		if ok && f.Severity.Rank() <= res.Findings[i].Severity.Rank() {
			continue
		}
		f.Evidence = slices.Clone(f.Evidence)
		for i := range f.Evidence {
			f.Evidence[i].Text = start + ": " + f.Evidence[i].Text
		}
		if ok {
			res.Findings[i] = f
		} else {
			res.Findings = append(res.Findings, f)
		}
	}
	rules.Sort(res.Findings)
	for _, g := range more.Gaps {
		g.Text = start + ": " + g.Text
		res.doubt(g)
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
	res.keeper.join(&more.keeper)
	res.updateVerdict(opts)
}

// Doubt joins to a result a reason for which something may have stayed hidden.
func Doubt(res *Result, g session.Gap, opts Options) {
	g.Text = text.Printable(g.Text, 300)
	res.doubt(g)
	res.updateVerdict(opts)
}

// addGap adds a gap to those of a result, where there is room and none says the same.
func addGap(gaps []session.Gap, g session.Gap) []session.Gap {
	if len(gaps) >= maxReasons || slices.ContainsFunc(gaps, func(o session.Gap) bool { return o.Same(&g) }) {
		return gaps
	}
	return append(gaps, g.Filled())
}

func (r *Result) doubt(g session.Gap) {
	if !r.keeper.take(&g) {
		return
	}
	r.Gaps = addGap(r.Gaps, g)
	r.Inconclusive = session.Texts(r.Gaps)
}

// dropGaps takes away the gaps that were closed.
func (r *Result) dropGaps(closed func(session.Gap) bool) {
	r.Gaps = slices.DeleteFunc(r.Gaps, closed)
	r.keeper.drop(closed)
	r.Inconclusive = session.Texts(r.Gaps)
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
	fill(res, more, session.GapToolNeverCalled, func(t *ToolCoverage) bool { return t.Calls > 0 })
	fill(res, more, session.GapToolOnlyErrors, succeeded)
	res.Coverage.Needs = slices.DeleteFunc(res.Coverage.Needs, func(n Need) bool { return res.settles(&n) })
}

// succeeded reports whether a tool answered a call without an error.
func succeeded(t *ToolCoverage) bool { return t.OK > 0 }

// coverCrashed takes from a start for one tool alone what that tool answered there, and from its
// doubts that the others were not called.
func coverCrashed(res, more *Result) {
	more.dropGaps(func(g session.Gap) bool { return g.Code == session.GapToolNeverCalled })
	fill(res, more, session.GapToolOnlyErrors, succeeded)
}

// coverSupplied takes from a start in which the server had what it lacked what tools answered there that had
// refused, and from the doubts of both what is settled: those that the first has of a tool count.
func coverSupplied(res, more *Result) {
	fill(res, more, session.GapToolOnlyErrors, succeeded)
	for i := range res.Coverage.Needs {
		if n := &res.Coverage.Needs[i]; res.settles(n) {
			n.Supplied = true
		}
	}
	more.dropGaps(func(g session.Gap) bool {
		return g.Tool != "" && slices.ContainsFunc(res.Gaps, func(o session.Gap) bool { return o.Tool == g.Tool })
	})
}

// settles reports whether each tool that lacked something answers by now, and drops the gap of that need then.
func (r *Result) settles(n *Need) bool {
	if !n.supplied(&r.Coverage) {
		return false
	}
	r.dropGaps(n.leaves)
	return true
}

// fill takes the tools of a further start that are reached there and in no start before, which
// closes their gaps of a code.
func fill(res, more *Result, closes session.Code, reached func(*ToolCoverage) bool) {
	for i := range res.Coverage.Tools {
		t := &res.Coverage.Tools[i]
		k := slices.IndexFunc(more.Coverage.Tools, func(m ToolCoverage) bool { return m.Name == t.Name && m.What == t.What && reached(&m) })
		if reached(t) || k < 0 {
			continue
		}
		*t = more.Coverage.Tools[k]
		closed := func(g session.Gap) bool { return g.Code == closes && g.Tool == t.Name }
		if !slices.ContainsFunc(res.Gaps, closed) {
			res.countDown(closes)
		}
		res.dropGaps(closed)
	}
	answered(res, more)
}

// countDown takes one from the tools that a gap counts beside those that are named.
func (r *Result) countDown(code session.Code) {
	for i := range r.Gaps {
		g := &r.Gaps[i]
		n, what := counted(g.Text)
		switch {
		case g.Code != code || g.Tool != "" || n == 0:
			continue
		case n == 1:
			text := g.Text
			r.dropGaps(func(g session.Gap) bool { return g.Code == code && g.Tool == "" && g.Text == text })
		default:
			g.Text = moreTools(n-1, what)
			r.Inconclusive = session.Texts(r.Gaps)
		}
		return
	}
}

// answered takes from the doubts of a further start what the first has answered: a tool may need
// a service that behaves otherwise there.
func answered(res, more *Result) {
	looked := func(name string, enough func(*ToolCoverage) bool) bool {
		return slices.ContainsFunc(res.Coverage.Tools, func(t ToolCoverage) bool { return t.Name == name && enough(&t) })
	}
	all := !slices.ContainsFunc(more.Coverage.Tools, func(t ToolCoverage) bool { return !succeeded(&t) && !looked(t.Name, succeeded) })
	more.dropGaps(func(g session.Gap) bool {
		switch g.Code {
		case session.GapToolNeverCalled:
			return looked(g.Tool, func(t *ToolCoverage) bool { return t.Calls > 0 })
		case session.GapToolOnlyErrors, session.GapToolNeverAnswered:
			return looked(g.Tool, succeeded) || g.Tool == "" && all
		case session.GapCredentialMissing, session.GapConfigurationMissing, session.GapDeviceMissing, session.GapProgramMissing, session.GapServiceMissing:
			return slices.ContainsFunc(more.Coverage.Needs, func(n Need) bool { return n.leaves(g) && n.supplied(&res.Coverage) })
		}
		return false
	})
}

// ofTool is a gap of one tool.
func ofTool(code session.Code, tool, what string) session.Gap {
	return session.Gap{Code: code, Tool: tool, Text: "tool “" + text.Printable(tool, 80) + "” " + what}
}
