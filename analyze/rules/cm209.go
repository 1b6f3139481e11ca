package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm209 = Rule{Rule: cm209Doc, Check: checkCM209}

var cm209Doc = finding.Rule{
	ID: "CM209", Name: "UndeclaredEgress", Title: "A tool tried to reach the network, which it does not declare", Severity: finding.Low,
	CWE: []string{"CWE-200"}, OWASP: []string{"MCP02"},
	Help: "During a call, or between calls, the server tried to reach an address outside though neither the tool nor the server speaks of a network, of URLs or of a remote service. Nothing rules it out either; where something does, it is CM202.\n\n" +
		"**Evidence.** The kernel's record of the attempt.\n\n" +
		"**False positive when** the description leaves the service unnamed (\"gets the weather\").",
}

func checkCM209(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.NetConnect) {
		if !leaving(e) || (e.Call == 0 && e.Phase != finding.PhaseIdle && e.Phase != finding.PhaseShutdown) {
			continue
		}
		t := r.Scope.Tool(e.Tool)
		if t.ClaimsLocal() || len(t.Network) > 0 || len(r.Scope.Purpose.Network) > 0 {
			continue
		}
		out = append(out, r.of(&cm209Doc, e, subject(e)+" tried to reach "+e.Target+", of which its declaration says nothing"))
	}
	return first(out)
}
