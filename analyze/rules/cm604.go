package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm604 = Rule{Rule: cm604Doc, Check: checkCM604}

var cm604Doc = finding.Rule{
	ID: "CM604", Name: "OutlivesInput", Title: "Server keeps running after stdin closes", Severity: finding.Info, Family: finding.FamilyRobustness,
	Advice: finding.Advice{Why: "The process stays after the client has gone.", Fix: "Exit when stdin reaches its end, and end all child processes."},
	CWE:    []string{"CWE-772"}, OWASP: []string{"MCP02"},
	Help: "The stdio transport ends a session when the client closes the server's stdin. This server, or a process that it started, kept running, and the sandbox had to end it.\n\n" +
		"**Evidence.** The agent's notice that it had to signal what was left.\n\n" +
		"**False positive when** a client is expected to send a signal as well.",
}

func checkCM604(r *Run) []finding.Finding {
	if !r.End.Killed {
		return nil
	}
	return []finding.Finding{{
		Rule: cm604Doc.ID, Severity: cm604Doc.Severity, Title: cm604Doc.Title, Confidence: finding.Certain, Phase: finding.PhaseShutdown,
		Message:     "the server, or a process that it started, kept running after stdin closed",
		Evidence:    facts([]Fact{{Time: r.End.Time, Text: "the sandbox ended it with a signal"}}),
		Fingerprint: finding.Fingerprint("CM604"),
	}}
}
