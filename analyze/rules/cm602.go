package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm602 = Rule{Rule: cm602Doc, Check: checkCM602, Shrink: ShrinkFresh}

var cm602Doc = finding.Rule{
	ID: "CM602", Name: "Hang", Title: "Unanswered call", Severity: finding.Low, Family: finding.FamilyRobustness,
	Advice: finding.Advice{Why: "The client waits until its own timeout.", Fix: "Return an error before the client's timeout, and send progress notifications for long work."},
	CWE:    []string{"CWE-834", "CWE-400"}, OWASP: []string{"MCP02"},
	Help: "A call got no response before its timeout.\n\n" +
		"**Evidence.** The request in `session.jsonl` without a response. A tool all of whose calls hang was not looked at, and one that hangs at two attack inputs gets no more of them: the verdict is inconclusive.\n\n" +
		"**False positive when** the tool waits for something that the sandbox does not have.",
}

func checkCM602(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, c := range r.Profile.Calls {
		if c.Outcome != session.OutcomeTimeout {
			continue
		}
		out = append(out, finding.Finding{
			Rule: cm602Doc.ID, Severity: cm602Doc.Severity, Title: cm602Doc.Title, Confidence: finding.Certain,
			Message: "“" + c.Tool + "” did not answer a call", Tool: c.Tool, Call: c.N, Phase: finding.PhaseCall,
			Evidence:    facts([]Fact{{Time: c.Start, Text: "no response before the timeout"}}),
			Fingerprint: finding.Fingerprint("CM602", c.Tool),
		})
	}
	return first(out)
}
