package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm601 = Rule{Rule: cm601Doc, Check: checkCM601, Shrink: ShrinkFresh}

var cm601Doc = finding.Rule{
	ID: "CM601", Name: "Crash", Title: "The server ended during the run", Severity: finding.Medium,
	CWE: []string{"CWE-248", "CWE-755"}, OWASP: []string{"MCP02"},
	Help: "The server's process ended by itself while calls were still to be made.\n\n" +
		"**Evidence.** Its exit status or signal and the call in which it happened; the tail of its stderr is in the log. A server that ends before any call with the word that a key or a setting is missing has not crashed; the run is inconclusive.\n\n" +
		"It is low where no call can be named, and where the call wanted a program that the sandbox has not. A server that ends at its start, with a status of its own, mostly lacks something.\n\n" +
		"**False positive when** a call's declared effect is to stop the server.",
}

func checkCM601(r *Run) []finding.Finding {
	greeted := r.Profile.Phases[finding.PhaseList] || r.Profile.Phases[finding.PhaseCall]
	if !r.End.Crashed || r.End.Lacking {
		return nil
	}
	f := finding.Finding{
		Rule: cm601Doc.ID, Severity: cm601Doc.Severity, Title: cm601Doc.Title, Confidence: finding.Certain,
		Evidence: facts([]Fact{{Time: r.End.Time, Text: "the server ended: " + r.End.How}}),
	}
	for _, c := range r.Profile.Calls {
		if c.Outcome == "crash" {
			f.Tool, f.Call, f.Phase = c.Tool, c.N, finding.PhaseCall
			break
		}
	}
	f.Message = "the server ended by itself (" + r.End.How + ")"
	if f.Tool == "" && (greeted || strings.HasPrefix(r.End.How, "exit status")) {
		f.Severity = finding.Low
	}
	if f.Tool != "" {
		f.Message = "“" + f.Tool + "” ended the server (" + r.End.How + ")"
		if names := r.Profile.Absent(func(call int) bool { return call == f.Call }); len(names) > 0 {
			f.Severity = finding.Low
			f.Message += ", where it wanted a program that is not here: " + list(names, 3)
		}
	}
	f.Fingerprint = finding.Fingerprint("CM601", f.Tool)
	return []finding.Finding{f}
}
