package report

import (
	"fmt"

	"github.com/coalmine-dev/coalmine/analyze"
)

// coverageView is what was looked at.
type coverageView struct {
	Called, Tools, OK, Calls int
	Records, Noise, Opaque   int
	Lost                     int64
	Unseen, Unreached        []string
	Unredacted               []string
	Accepted, Reached        []string
	Shown                    []string
	Rows                     []rowView
	More                     int
}

type rowView struct {
	Name, What                  string
	Calls, OK, Errors, Timeouts int
	Bad                         bool
}

// auditView is the reading of the source.
type auditView struct {
	Score, Files int
	Grade        string
	Ungraded     string
	Capped, Read string
	NotRead      []string
	Silenced     int
	Deductions   []deductionView
}

type deductionView struct {
	Rule   string
	Points int
	Hits   string
}

// acceptedView is a finding that somebody answers for.
type acceptedView struct{ Rule, Message, Reason, Owner, Until string }

// knownView is a finding that was known before.
type knownView struct{ Rule, Severity, Message string }

func (v *pageView) known(res *analyze.Result) {
	if res.Baseline == nil {
		return
	}
	v.Baseline = Escape(res.Baseline.File, 200)
	for _, k := range res.Baseline.Known[:min(len(res.Baseline.Known), maxPageFindings)] {
		v.Known = append(v.Known, knownView{Escape(k.Rule, 60), string(k.Severity), Escape(k.Message, 300)})
	}
}

func (v *pageView) accepted(res *analyze.Result) {
	v.known(res)
	if res.Policy == nil {
		return
	}
	for i := range res.Policy.Gaps[:min(len(res.Policy.Gaps), maxPageFindings)] {
		v.AcceptedGaps = append(v.AcceptedGaps, Escape(acceptedGapLine(&res.Policy.Gaps[i]), 600))
	}
	for _, a := range res.Policy.Accepted[:min(len(res.Policy.Accepted), maxPageFindings)] {
		v.Accepted = append(v.Accepted, acceptedView{Escape(a.Rule, 60), Escape(a.Message, 300), Escape(a.Reason, 300), Escape(a.Owner, 80), Escape(a.Until, 10)})
	}
}

func (v *pageView) coverage(res *analyze.Result) {
	c := &v.Coverage
	c.Records, c.Noise, c.Lost, c.Opaque = res.Coverage.Records, res.Coverage.Noise, res.Coverage.Lost, res.Coverage.Opaque
	for _, left := range res.Run.Unredacted {
		c.Unredacted = append(c.Unredacted, Escape(left, 300))
	}
	for _, u := range res.Coverage.Unseen {
		c.Unseen = append(c.Unseen, Escape(u, 200))
	}
	for _, p := range res.Coverage.Unreached {
		c.Unreached = append(c.Unreached, string(p))
	}
	for _, h := range res.Coverage.Accepted {
		c.Accepted = append(c.Accepted, Escape(h, 120))
	}
	for _, shown := range res.Shown {
		c.Shown = append(c.Shown, ShownLine(shown))
	}
	for _, r := range res.Coverage.Reached {
		c.Reached = append(c.Reached, Escape(r, 300))
	}
	for _, t := range res.Coverage.Tools {
		c.Calls += t.Calls
		if t.What == "tool" {
			c.Tools++
			c.Called += min(t.Calls, 1)
			c.OK += min(t.OK, 1)
		}
		if len(c.Rows) < maxPageRows {
			c.Rows = append(c.Rows, rowView{Escape(t.Name, 120), Escape(t.What, 20), t.Calls, t.OK, t.Errors, t.Timeouts, t.OK == 0})
		}
	}
	c.More = len(res.Coverage.Tools) - len(c.Rows)
}

func (v *pageView) audit(res *analyze.Result) {
	a := res.Audit
	if a == nil {
		return
	}
	v.Audit = &auditView{Score: a.Score, Grade: Escape(a.Grade, 4), Ungraded: Escape(a.Ungraded, 200), Capped: Escape(a.Capped, 200), Read: Escape(AuditRead(&a.Profile), 400), NotRead: AuditNotRead(a), Files: a.Profile.FilesScanned, Silenced: a.Silenced}
	for _, d := range a.Deductions {
		v.Audit.Deductions = append(v.Audit.Deductions, deductionView{Escape(fmt.Sprint(d.Rule), 60), d.Points, plural(d.Hits, "place")})
	}
}
