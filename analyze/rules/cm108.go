package rules

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm108 = Rule{Rule: cm108Doc, Check: checkCM108}

var cm108Doc = finding.Rule{
	ID: "CM108", Name: "SecretReadThenEgress", Title: "Decoy secret opened and network used in one call", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "A credential and a connection in one call are enough for exfiltration, whatever the payload looks like.", Fix: "Separate both: do not open credential files in a tool that uses the network, or declare both."},
	CWE:    []string{"CWE-200", "CWE-319"}, OWASP: []string{"MCP01"},
	Help: "In one call (or in one phase outside calls) the server opened or read a decoy secret and tried to reach an address outside, and the declaration explains neither.\n\n" +
		"**Evidence.** Both records of the kernel, in order. What was sent does not matter: encryption defeats any search of the payload.\n\n" +
		"**False positive when** two unrelated jobs share a call, such as an HTTP library that looks up `~/.netrc` for a declared request; a declared network use is therefore quiet.",
}

func checkCM108(r *Run) []finding.Finding {
	egress := r.firstLeaving()
	if len(egress) == 0 {
		return nil
	}
	var out []finding.Finding
	for _, e := range r.secretFiles(finding.RungOpened) {
		c := r.Canaries[e.Target]
		if e.Rung.Rank() >= finding.RungReturned.Rank() || e.Via == viaFile || r.isLookup(e, c) || r.dealsWith(c, e.Tool) || r.inWorkspace(c) && r.wasAsked(e, c) {
			continue
		}
		n := egress[moment{e.Call, e.Phase}]
		if n == nil {
			continue
		}
		f := r.of(&cm108Doc, e, subject(e)+" opened "+r.secretLocation(e.Target)+" and tried to reach "+n.Target)
		f.Evidence = append(f.Evidence, n.Evidence...)
		slices.SortStableFunc(f.Evidence, func(a, b finding.Evidence) int { return int((a.Time - b.Time) / time.Nanosecond) })
		f.Fingerprint = finding.Fingerprint("CM108", e.Tool, r.stable(c.Path))
		out = append(out, f)
	}
	return first(out)
}
