package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// RemoteFact is something that was seen in the HTTP or TLS of a remote server. Its Tool is
// what the fact is about where a server can have several, its Text how it was seen.
type RemoteFact struct {
	Fact
	What session.RemoteFact
}

// remoteCase says what a fact comes to.
type remoteCase struct {
	severity finding.Severity
	message  string
}

// remoteFindings are those of one rule, whose cases say which facts it is about.
func remoteFindings(r *Run, doc *finding.Rule, cases map[session.RemoteFact]remoteCase) []finding.Finding {
	var out []finding.Finding
	for _, seen := range r.Remote {
		c, ok := cases[seen.What]
		if !ok {
			continue
		}
		f := finding.Finding{
			Rule: doc.ID, Severity: c.severity, Title: doc.Title, Message: c.message, Confidence: finding.Certain, Phase: finding.PhaseHandshake,
			Fingerprint: finding.Fingerprint(doc.ID, string(seen.What), seen.Tool),
		}
		if seen.Tool != "" {
			f.Message += ": " + text.Printable(seen.Tool, 120)
		}
		fact := seen.Fact
		fact.Text = text.Printable(fact.Text, 400)
		f.Evidence = facts([]Fact{fact})
		out = append(out, f)
	}
	return first(out)
}
