package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// RemoteFact is something that was seen in the HTTP or TLS of a remote server, or of a port that a server in a sandbox
// opened. Its Tool is what the fact is about where a server can have several, its Text how it was seen.
type RemoteFact struct {
	Fact
	What session.RemoteFact
	// Port is that of a server in a sandbox, 0 for a remote one.
	Port int
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
			Fingerprint: finding.Fingerprint(doc.ID, string(seen.What), seen.named()),
		}
		if seen.Port > 0 {
			f.Phase = finding.PhaseCall
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

// named is what a fact is about from run to run: the number of a port may be drawn.
func (f *RemoteFact) named() string {
	if f.Port > 0 {
		return ""
	}
	return f.Tool
}
