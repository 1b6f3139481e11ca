package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm706 = Rule{Rule: cm706Doc, Check: checkCM706, Shrink: ShrinkNever}

var cm706Doc = finding.Rule{
	ID: "CM706", Name: "CrossOriginRedirect", Title: "Redirect to another origin", Severity: finding.Medium, Family: finding.FamilyRemote,
	Advice: finding.Advice{Why: "The messages and credentials go to a host that nobody approved.", Fix: "Serve MCP at the configured address. Announce a move in the documentation instead of a redirect.", Preview: true},
	CWE:    []string{"CWE-601"}, OWASP: []string{"MCP07"},
	Help: "The server redirects MCP messages to another origin. A client that follows sends the messages, and perhaps the credentials, to a host that its user did not configure.\n\n" +
		"**Evidence.** The status and the origin in the Location header. coalmine does not follow it. It is medium.\n\n" +
		"**False positive when** the server has moved, and the other origin is its documented address.",
}

var casesCM706 = map[session.RemoteFact]remoteCase{
	session.RemoteRedirect: {finding.Medium, "the server redirects messages to another origin"},
}

func checkCM706(r *Run) []finding.Finding { return remoteFindings(r, &cm706Doc, casesCM706) }
