package rules

import "github.com/coalmine-dev/coalmine/analyze/finding"

var cm207 = Rule{Rule: cm207Doc, Check: checkCM207}

var cm207Doc = finding.Rule{
	ID: "CM207", Name: "StartupEgress", Title: "Network access before the first call", Severity: finding.Low, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "The connection happens before the user asks for anything, as telemetry does.", Fix: "Connect only in a call, or make telemetry opt-in and document it."},
	CWE:    []string{"CWE-359"}, OWASP: []string{"MCP02"},
	Help: "While it started, shook hands or listed its tools, the server tried to reach addresses outside or asked a name server: telemetry, update checks and the like.\n\n" +
		"**Evidence.** The kernel's record of the attempt. All targets are one finding, since it is one habit. A decoy secret read in the same phase is a finding of its own (CM108).\n\n" +
		"**False positive when** the server's whole purpose is a remote service that it greets at start.",
}

func checkCM207(r *Run) []finding.Finding {
	if r.promisedLocal() != nil {
		return nil // CM202 has it
	}
	return r.egress(&cm207Doc, func(e *finding.Effect) bool {
		return e.Call <= 0 && !e.Phase.Unpinned() && e.Phase != finding.PhaseShutdown && e.Phase != finding.PhaseBuild
	}, func(targets string) string { return "the server tried to reach " + targets + " before any call" })
}
