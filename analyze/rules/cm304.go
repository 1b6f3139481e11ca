package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm304 = Rule{Rule: cm304Doc, Check: checkCM304}

var cm304Doc = finding.Rule{
	ID: "CM304", Name: "ServerSideRequestForgery", Title: "Server-side request forgery", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever controls the argument sends requests from the user's machine to internal services.", Fix: "Allow only listed hosts. Resolve the name, reject private and link-local addresses, and check each redirect."},
	CWE:    []string{"CWE-918"}, OWASP: []string{"MCP05"},
	Help: "A string argument with an address made the server send a request to it: to a cloud metadata service, to the machine itself, to a private or link-local address in one of its notations, through a redirect or a name that leads there, or to a name drawn for that call.\n\n" +
		"**Evidence.** The sinkhole's record of the request or of the name asked for, with a token drawn for the call; for loopback, where nothing answers, the kernel's record of the connection to a port drawn for it. The host must be the one aimed at: a token within a request to the tool's own service proves nothing.\n\n" +
		"A tool that declares to fetch the address it is given may ask any: no finding, unless it promises to ask only public or listed ones. **False positive when** the promise speaks of something else.",
}

func checkCM304(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OracleFetch) {
		t := r.Scope.Tool(r.toolOf(h.Call))
		promise := "the argument names no address"
		switch {
		case runsCommands(&t, h.At):
			continue
		case len(t.Outward) > 0 && (h.Context == "name" || h.Context == "host after the value"):
			continue // any public name is as good
		case len(t.Outward) > 0:
			promise = "its declaration says “" + t.Outward[0].Text + "”"
		case among(t.URLs, h.At):
			continue
		}
		out = append(out, r.proven(&cm304Doc, h, r.quoted(h)+" made the server send a request to a chosen address ("+h.Context+"), although "+promise))
		contexts = append(contexts, h.Context)
	}
	return aboutOne(out, contexts)
}
