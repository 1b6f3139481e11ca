package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm409 = Rule{Rule: cm409Doc, Check: detected(cm409Doc.ID), Observations: []string{"orphaned_response"}}

var cm409Doc = finding.Rule{
	ID: "CM409", Name: "OrphanedResponse", Title: "Response without a request", Severity: finding.Low, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "A client can take it for the response to another request.", Fix: "Send exactly one response with the id of each request."},
	CWE:    []string{"CWE-345"}, OWASP: []string{"MCP02"},
	Help: "A response carries an id that no open request of this session has: an answer given twice, or one that nobody asked for.\n\n**Evidence.** The id. Glassport's name: `orphaned_response`, severity 1.\n\n" +
		"**False positive when** the tap missed the request; a log that begins in the middle stays quiet.",
}
