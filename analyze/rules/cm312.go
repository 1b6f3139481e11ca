package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm312 = Rule{Rule: cm312Doc, Check: checkCM312}

var cm312Doc = finding.Rule{
	ID: "CM312", Name: "FetchedContentDeclared", Title: "Fetched content in a declaration", Severity: finding.Medium, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "The model follows the text, and whoever serves the document can change it at any time.", Fix: "Declare tools with texts of the package. Show fetched text in results only.", Preview: true},
	CWE:    []string{"CWE-829", "CWE-1427"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "The server's tools/list repeats a text of a document that it fetched. A model follows declarations, and their text then belongs to whoever serves the document: it can change after every review.\n\n" +
		"**Evidence.** A word drawn for the run that stands in the served documents alone, in an answer to `tools/list`.\n\n" +
		"A result that returns a fetched page is no finding. **False positive when** the server declares to offer the tools of a service that the user names, such as those of an OpenAPI document.",
}

func checkCM312(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, context := range []string{session.ServedOrder, session.ServedLink, session.ServedInner} {
		for _, h := range r.servedHits(context, profile.HitListed) {
			f := r.ofServed(&cm312Doc, h, cm312Doc.Severity, "")
			f.Message = "tools/list repeats a text (" + context + ") of a document that the server fetched"
			f.Tool, f.Phase, f.Fingerprint = "", finding.PhaseList, finding.Fingerprint(cm312Doc.ID)
			out = append(out, f)
		}
	}
	return first(out)
}
