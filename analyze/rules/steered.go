package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

// Unsteady are calls that have the same tool and arguments as an earlier one and asked the network for something else:
// what decides about that, runs with other secrets can tell.
func Unsteady(r *Run) (out []int) {
	type same struct{ tool, args string }
	first := map[same]profile.Sent{}
	for _, c := range r.Profile.Calls {
		sent, asked := r.Profile.Sent[c.N]
		if !asked || len(c.Oracles) > 0 || c.Turn > 0 {
			continue
		}
		k := same{c.Tool, string(r.Args[c.N])}
		if before, known := first[k]; !known {
			first[k] = sent
		} else if before.Sum != sent.Sum {
			out = append(out, c.N)
		}
	}
	return out
}

// steered are the calls in which the controls sent the same requests, and each run with other values of the secrets others.
func steered(controls []*Run, v *Varied) (out []int) {
	if v.Added || len(controls) == 0 || len(v.Runs) == 0 { // without a credential a program rightly asks for less
		return nil
	}
	for _, c := range controls[0].Profile.Calls {
		sent, asked := controls[0].Profile.Sent[c.N]
		is := func(r *Run) bool { return r.Profile.Sent[c.N] == sent }
		if asked && !slices.ContainsFunc(controls, func(r *Run) bool { return !is(r) }) && !slices.ContainsFunc(v.Runs, func(r *Run) bool { return is(r) || r.Profile.Sent[c.N].N == 0 }) {
			out = append(out, c.N)
		}
	}
	return out
}

// steeredBy is the finding of calls whose requests the secrets decide about.
func (r *Run) steeredBy(v *Varied) []finding.Finding {
	var out []finding.Finding
	for _, n := range steered(r.Controls, v) {
		control := r.Controls[0].Profile
		sent, tool := control.Sent[n], ""
		if i := slices.IndexFunc(control.Calls, func(c profile.Call) bool { return c.N == n }); i >= 0 {
			tool = control.Calls[i].Tool
		}
		if r.secretsExplained(tool, sent.Peer) {
			continue
		}
		e := finding.Effect{Kind: finding.NetConnect, Target: sent.Peer, Phase: finding.PhaseCall, Call: n, Tool: tool}
		f := r.of(&cm111Doc, &e, subject(&e)+" sent other requests to "+sent.Peer+" "+v.How+", and the same ones under no other condition")
		f.Call = 0
		f.Evidence = []finding.Evidence{
			{Source: "event", Text: "in unchanged surroundings: " + plural(sent.N, "request") + ", the same each time"},
			{Source: "event", Text: v.How + ": " + plural(v.Runs[0].Profile.Sent[n].N, "request") + ", others or in another order"},
		}
		f.Fingerprint = finding.Fingerprint(cm111Doc.ID, tool, domain(sent.Peer[:max(0, strings.LastIndexByte(sent.Peer, ':'))]), "requests")
		out = append(out, f)
	}
	return out
}
