package rules

import (
	"maps"
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

// steered are the domains to which all controls sent the same requests, and each run with other values of the secrets
// left some of them out and sent others.
func steered(controls []*Run, v *Varied) (out []string) {
	if v.Added || len(controls) == 0 || len(v.Runs) == 0 { // without a credential a program rightly asks for less
		return nil
	}
	whole := controls[0].Profile.Requests
	for _, domain := range slices.Sorted(maps.Keys(whole)) {
		lacks := func(r *Run, of []uint64) bool {
			return slices.ContainsFunc(of, func(sum uint64) bool { return !slices.Contains(r.Profile.Requests[domain], sum) })
		}
		same := !slices.ContainsFunc(controls, func(r *Run) bool {
			return lacks(r, whole[domain]) || lacks(controls[0], r.Profile.Requests[domain])
		})
		if same && !slices.ContainsFunc(v.Runs, func(r *Run) bool {
			return !lacks(r, whole[domain]) || !lacks(controls[0], r.Profile.Requests[domain])
		}) {
			out = append(out, domain)
		}
	}
	return out
}

// steeredBy is the finding of requests that the secrets decide about.
func (r *Run) steeredBy(v *Varied) []finding.Finding {
	var out []finding.Finding
	for _, domain := range steered(r.Controls, v) {
		control := r.Controls[0].Profile
		tool, host := "", domain
		for _, c := range control.Calls {
			if sent := control.Sent[c.N]; tool == "" && peerDomain(sent.Peer) == domain {
				tool, host = c.Tool, sent.Peer
			}
		}
		if r.secretsExplained(tool, host) {
			continue
		}
		e := finding.Effect{Kind: finding.NetConnect, Target: host, Phase: finding.PhaseCall, Tool: tool}
		f := r.of(&cm111Doc, &e, subject(&e)+" sent other requests to "+domain+" "+v.How+", and the same ones under no other condition")
		f.Evidence = []finding.Evidence{
			{Source: "event", Text: "in unchanged surroundings: " + plural(len(control.Requests[domain]), "different request") + ", the same each time"},
			{Source: "event", Text: v.How + ": " + plural(len(v.Runs[0].Profile.Requests[domain]), "different request") + ", others among them"},
		}
		f.Fingerprint = finding.Fingerprint(cm111Doc.ID, tool, domain, "requests")
		out = append(out, f)
	}
	return out
}

// peerDomain is the registered domain of "host:port".
func peerDomain(peer string) string { return domain(peer[:max(0, strings.LastIndexByte(peer, ':'))]) }
