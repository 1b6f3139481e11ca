package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm704 = Rule{Rule: cm704Doc, Check: checkCM704, Shrink: ShrinkNever}

var cm704Doc = finding.Rule{
	ID: "CM704", Name: "WeakSession", Title: "Weak session management", Severity: finding.Medium, Family: finding.FamilyRemote,
	Advice: finding.Advice{Why: "Whoever guesses or keeps a session id reads and sends messages in another user's session.", Fix: "Use random ids of at least 128 bits, reject unknown ids with status 404, and bind each id to its user.", Preview: true},
	CWE:    []string{"CWE-330", "CWE-384", "CWE-613"}, OWASP: []string{"MCP07"},
	Help: "A session id can be guessed, is accepted although the server never issued it, or stays valid after its end. The specification asks for ids that are unique and cryptographically secure.\n\n" +
		"**Evidence.** The length and the common parts of two session ids (never the ids), and the answers to requests with an invented or deleted id. Two ids that differ in a few characters are high; short or invented ids are medium; ids that outlive their end, wrong characters and cookies without Secure or HttpOnly are low.\n\n" +
		"**False positive when** the id is not a secret because each request is authorized by itself.",
}

var casesCM704 = map[session.RemoteFact]remoteCase{
	session.RemoteSessionNext:     {finding.High, "session ids are predictable"},
	session.RemoteSessionShort:    {finding.Medium, "session ids have less than 64 bits"},
	session.RemoteSessionInvented: {finding.Medium, "the server accepts a session id that it did not issue"},
	session.RemoteSessionEnded:    {finding.Low, "a session stays valid after its end"},
	session.RemoteSessionText:     {finding.Low, "session ids contain characters other than visible ASCII"},
	session.RemoteCookie:          {finding.Low, "a cookie lacks Secure or HttpOnly"},
}

func checkCM704(r *Run) []finding.Finding { return remoteFindings(r, &cm704Doc, casesCM704) }
