package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm207 = Rule{Rule: cm207Doc, Check: checkCM207}

var cm207Doc = finding.Rule{
	ID: "CM207", Name: "StartupEgress", Title: "The server tried to reach the network before any call", Severity: finding.Low,
	CWE: []string{"CWE-359"}, OWASP: []string{"MCP02"},
	Help: "While it started, shook hands or listed its tools, the server tried to reach addresses outside or asked a name server: telemetry, update checks and the like.\n\n" +
		"**Evidence.** The kernel's record of the attempt. All targets are one finding, since it is one habit. A decoy secret read in the same phase is a finding of its own (CM108).\n\n" +
		"**False positive when** the server's whole purpose is a remote service that it greets at start.",
}

func checkCM207(r *Run) []finding.Finding {
	var f finding.Finding
	var targets []string
	for _, e := range r.effects(finding.NetConnect) {
		if e.Call > 0 || !leaving(e) || e.Phase == finding.PhaseIdle || e.Phase == finding.PhaseShutdown || e.Phase == finding.PhaseBuild || slices.Contains(targets, e.Target) {
			continue
		}
		if len(targets) == 0 {
			f = r.of(&cm207Doc, e, "")
		} else if len(f.Evidence) < maxEvidence {
			f.Evidence = append(f.Evidence, e.Evidence...)
		}
		targets = append(targets, e.Target)
	}
	if len(targets) == 0 {
		return nil
	}
	for i, t := range targets {
		targets[i] = strings.Replace(t, "dns:", "the name server for ", 1)
	}
	f.Message = "the server tried to reach " + list(targets, 5) + " before any call"
	f.Fingerprint = finding.Fingerprint("CM207")
	return []finding.Finding{f}
}
