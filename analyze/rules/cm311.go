package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm311 = Rule{Rule: cm311Doc, Check: checkCM311}

var cm311Doc = finding.Rule{
	ID: "CM311", Name: "FetchedLinkFollowed", Title: "Request to an address from fetched content", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "A page that somebody else writes chooses where the server sends requests.", Fix: "Ask only the address that the call names. Where links are followed, resolve each and reject private and link-local addresses.", Preview: true},
	CWE:    []string{"CWE-918"}, OWASP: []string{"MCP05"},
	Help: "A page that the server fetched held links, and the server followed one without being asked. High is a link to a private address: whoever writes a page that the server reads sends requests into the user's network. Low is a link to another public host.\n\n" +
		"**Evidence.** The sinkhole's record of the request, with a path drawn for the run that stands in the served page alone.\n\n" +
		"A tool or a server that says that it goes from page to page (crawls, follows links, browses) may ask any public host: no finding for the public link. **False positive when** it says so in words that the lexicon does not know.",
}

func checkCM311(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, h := range r.servedHits(session.ServedInner, profile.HitAsked) {
		out = append(out, r.ofServed(&cm311Doc, h, cm311Doc.Severity, "followed a link to a private address that stood in a page that it fetched"))
	}
	for _, h := range r.servedHits(session.ServedLink, profile.HitAsked) {
		if !r.goesFromPageToPage(r.toolOf(h.Call)) {
			out = append(out, r.ofServed(&cm311Doc, h, finding.Low, "followed a link to another host that stood in a page that it fetched"))
		}
	}
	return first(out)
}
