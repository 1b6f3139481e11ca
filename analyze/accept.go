package analyze

import (
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/rules"
)

// Policed is what a policy made of a run.
type Policed struct {
	// File is the policy's name as it was given.
	File string `json:"file"`
	// Accepted are the findings that it suppresses; they are in no other list.
	Accepted []Accepted `json:"accepted"`
	// Gaps are the gaps that it accepts; they are in no other list.
	Gaps []AcceptedGap `json:"gaps,omitempty"`
}

// Accepted is a finding that somebody answers for.
type Accepted struct {
	Known
	Reason string `json:"reason"`
	Owner  string `json:"owner"`
	// Until is the last day on which it holds.
	Until string `json:"until"`
}

// accept takes the findings out that the policy suppressed when the run began.
func (j *judge) accept(res *Result, opts Options) {
	p := opts.Policy
	if p == nil {
		return
	}
	res.Policy = &Policed{File: p.File, Accepted: []Accepted{}}
	res.without(func(f *finding.Finding) bool {
		s, ok := p.Suppressed(f.Fingerprints(), j.header.Started)
		if ok {
			res.Policy.Accepted = append(res.Policy.Accepted, Accepted{
				Known: known(f), Reason: s.Reason, Owner: s.Owner, Until: s.Expires.Add(-time.Second).Format(time.DateOnly),
			})
		}
		return ok
	})
}

// leastHolds is how long a suppression of Result.Least holds.
const leastHolds = 90 * 24 * time.Hour

// least is the least policy under which the run would have been quiet: it allows
// what was done, and suppresses those findings that no list can answer.
func (j *judge) least(run *rules.Run, res *Result, opts Options) *policy.Policy {
	p := rules.Least(run)
	p.File = policy.FileName
	if opts.Policy != nil {
		p.Environment, p.Rules = opts.Policy.Environment, opts.Policy.Rules
	}
	j.redactLists(&p.Server.Allow)
	for _, e := range p.Tools {
		j.redactLists(&e.Allow)
	}
	under := *run
	under.Policy = p
	all := rules.Check(&under)
	all = append(all, j.own(&under, all, &opts)...)
	if res.Audit != nil {
		all = append(all, res.Audit.Findings...)
	}
	day := res.Run.Started.UTC().Truncate(24 * time.Hour).Add(leastHolds)
	seen := map[string]bool{}
	for _, f := range all {
		if f.Severity.Rank() < weight(opts.FailOn).Rank() || seen[f.Fingerprint] {
			continue
		}
		seen[f.Fingerprint] = true
		p.Suppress = append(p.Suppress, policy.Suppression{
			Fingerprint: f.Fingerprint, Reason: "say here why this is accepted", Owner: "nobody yet", Expires: day,
			Note: j.say(string(f.Severity)+" "+f.Rule+": "+f.Message, 300),
		})
	}
	for _, flow := range run.OpaqueFlows() {
		if p.AcceptOpaque.Host(flow.Peer) == nil {
			p.AcceptOpaque = append(p.AcceptOpaque, policy.Item{Text: flow.Peer})
		}
	}
	return p
}

// redactLists takes the decoys' values out of what a policy would name.
func (j *judge) redactLists(l *policy.Lists) {
	for _, list := range []policy.List{l.Files, l.Hosts, l.Commands, l.Env} {
		for i := range list {
			list[i].Text = j.set.Redact(list[i].Text)
		}
	}
}

// weight is the severity from which on findings decide the verdict.
func weight(failOn finding.Severity) finding.Severity {
	if failOn.Rank() > 0 && failOn.Rank() < finding.Medium.Rank() {
		return failOn
	}
	return finding.Medium
}
