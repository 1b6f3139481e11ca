package analyze

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// AcceptedGap is a reason for doubt that somebody answers for.
type AcceptedGap struct {
	session.Gap
	Reason string `json:"reason"`
	// Until is the last day on which it holds.
	Until string `json:"until"`
}

// gapKeeper takes in the gaps of a result: it keeps those that the policy accepts apart
// from the others, and notes all of them for Result.Least.
type gapKeeper struct {
	policy   *policy.Policy
	started  time.Time // the run: what ends on a day ended before it or did not
	accepted []AcceptedGap
	// least has an acceptance of each gap that can be accepted, by code and tool.
	least []policy.GapAcceptance
}

// maxLeastGaps bounds the acceptances that a least policy proposes.
const maxLeastGaps = 1_000

// take reports whether a gap remains a reason for doubt. Its text says so where the
// acceptance has expired.
func (k *gapKeeper) take(g *session.Gap) (remains bool) {
	a, expired, ok := k.policy.AcceptsGap(*g, k.started)
	k.note(g, &a, ok)
	if !ok {
		if expired != "" {
			g.Text += " (its acceptance expired on " + expired + ")"
		}
		return true
	}
	k.keep(AcceptedGap{Gap: g.Filled(), Reason: text.Printable(a.Reason, 300), Until: a.Until()})
	return false
}

// keep adds an accepted gap once.
func (k *gapKeeper) keep(g AcceptedGap) {
	if len(k.accepted) < maxLeastGaps && !slices.ContainsFunc(k.accepted, func(o AcceptedGap) bool { return o.Same(&g.Gap) }) {
		k.accepted = append(k.accepted, g)
	}
}

// note proposes to accept a gap, in the words of the acceptance that there is.
func (k *gapKeeper) note(g *session.Gap, a *policy.GapAcceptance, accepted bool) {
	if g.Code.Acceptable(g.Tool) != nil {
		return
	}
	propose := policy.GapAcceptance{
		Code: g.Code, Tool: g.Tool, Reason: "say here why this is accepted", Expires: k.started.UTC().Truncate(24 * time.Hour).Add(leastHolds), Note: text.Printable(g.Text, 300),
		Cause: g.Cause,
	}
	if accepted {
		propose.Reason, propose.Expires = a.Reason, a.Expires
	}
	k.propose(propose)
}

func (k *gapKeeper) propose(a policy.GapAcceptance) {
	same := func(o policy.GapAcceptance) bool { return o.Code == a.Code && o.Tool == a.Tool }
	if len(k.least) < maxLeastGaps && !slices.ContainsFunc(k.least, same) {
		k.least = append(k.least, a)
	}
}

// join takes in what the keeper of a further run kept.
func (k *gapKeeper) join(more *gapKeeper) {
	for _, g := range more.accepted {
		k.keep(g)
	}
	for _, a := range more.least {
		k.propose(a)
	}
}

// drop forgets the gaps that were closed.
func (k *gapKeeper) drop(closed func(session.Gap) bool) {
	k.accepted = slices.DeleteFunc(k.accepted, func(g AcceptedGap) bool { return closed(g.Gap) })
	k.least = slices.DeleteFunc(k.least, func(a policy.GapAcceptance) bool {
		return closed(session.Gap{Code: a.Code, Tool: a.Tool, Text: a.Note, Cause: a.Cause})
	})
}

// updateVerdict brings the verdict and what the policy made of the gaps up to date.
func (r *Result) updateVerdict(opts Options) {
	if r.Policy != nil {
		r.Policy.Gaps = r.keeper.accepted
	}
	if r.Least != nil {
		r.Least.AcceptGaps = r.keeper.least // shared: what sanitize bounds stays bounded
	}
	r.Coverage.Reach = reachOf(&r.Coverage)
	r.Verdict = verdict(r, opts.FailOn)
}
