package rules

import (
	"maps"
	"net/url"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

var cm431 = Rule{Rule: cm431Doc, Check: checkCM431}

var cm431Doc = finding.Rule{
	ID: "CM431", Name: "LinkToSecret", Title: "Result links to a file with secrets", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "A client that follows the link puts the user's credentials before the model, without a read by the server.", Fix: "Link to files that the call asks for, and to none that holds credentials.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-441"}, OWASP: []string{"MCP01", "MCP06"},
	Help: "A result holds a `resource_link`, or a resource, whose `file:` address is that of a decoy secret (`.env`, keys, credentials), which neither the call nor the declaration names.\n\n" +
		"**Evidence.** The address, in the frame. It is low where the tool lists the files of the directory that the call names, or of the workspace.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says that it offers this file.",
}

func checkCM431(r *Run) []finding.Finding {
	var out distinct
	for _, l := range r.Wire.Offered {
		u, err := url.Parse(l.Text)
		if err != nil {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(r.Canaries)) {
			c := r.Canaries[id]
			if c.Path == "" || c.Path != u.Path || r.dealsWith(c, l.Tool) {
				continue
			}
			severity := cm431Doc.Severity
			if r.wasAsked(&finding.Effect{Tool: l.Tool, Call: l.Call, Target: id}, c) {
				severity = finding.Low
			}
			fact := l
			fact.Text = "the result of “" + text.Printable(l.Tool, 80) + "” links to " + r.secretLocation(id) + ", which the call does not name"
			out.add(finding.Finding{
				Rule: cm431Doc.ID, Severity: severity, Title: cm431Doc.Title, Confidence: finding.Certain, Tool: l.Tool, Call: l.Call, Phase: finding.PhaseCall,
				Message: fact.Text, Evidence: facts([]Fact{fact}), Fingerprint: finding.Fingerprint(cm431Doc.ID, l.Tool, r.stable(c.Path)),
			})
		}
	}
	return out.list
}
