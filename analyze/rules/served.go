package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// servedHits are what happened with a document that the sinkhole served.
func (r *Run) servedHits(context string, how ...string) []*profile.Hit {
	var out []*profile.Hit
	for _, h := range r.hits(session.OracleServed) {
		for _, one := range how {
			if h.Context == context && h.How == one {
				out = append(out, h)
			}
		}
	}
	return out
}

// ofServed is a finding from such a hit. message follows its subject.
func (r *Run) ofServed(doc *finding.Rule, h *profile.Hit, severity finding.Severity, message string) finding.Finding {
	f := r.proven(doc, h, "")
	f.Severity = severity
	if f.Phase = h.Phase; h.Call > 0 {
		f.Phase = finding.PhaseCall
	}
	f.Message = subject(&finding.Effect{Tool: f.Tool, Phase: f.Phase}) + " " + message
	f.Fingerprint = finding.Fingerprint(doc.ID, f.Tool, h.Context)
	return f
}

// visits match what a tool or a server says whose business is to go from page to page.
var visits = lazyregexp.New(`(?i)\bcrawl|\bspider|\bfollow\w*\s+(?:\w+\s+){0,2}(?:links?|urls?)|\brecurs|\bsitemap|\bmirror|\bbrows|\bnavigat|\b(?:check|verif|validat|broken|dead)\w*\s+(?:\w+\s+){0,2}links?|\blinks?\s+(?:checker|validator)|\bdeep\s+research`)

// goesFromPageToPage is whether the tool, or the server, says so.
func (r *Run) goesFromPageToPage(tool string) bool {
	for _, d := range r.texts() {
		if (d.owner.Kind == detect.OwnerServer || d.owner.Name == tool && tool != "") && (d.place == "name" || d.place == "title" || d.place == "description" || d.place == "instructions") && visits.MatchString(d.text) {
			return true
		}
	}
	return false
}
