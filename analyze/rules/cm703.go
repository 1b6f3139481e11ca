package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm703 = Rule{Rule: cm703Doc, Check: checkCM703, Shrink: ShrinkNever}

var cm703Doc = finding.Rule{
	ID: "CM703", Name: "OriginNotChecked", Title: "Missing Origin validation", Severity: finding.Medium, Family: finding.FamilyRemote,
	Advice: finding.Advice{Why: "A web page can call the tools through the user's browser.", Fix: "Reject requests whose Origin or Host is not in a list of allowed values with status 403, and bind local servers to 127.0.0.1.", Preview: true},
	CWE:    []string{"CWE-346", "CWE-350", "CWE-942"}, OWASP: []string{"MCP07"},
	Help: "The server answers requests that carry an unknown Origin or Host. The MCP specification requires servers to validate Origin. A web page that the user visits can then call the tools of a server on this machine (DNS rebinding).\n\n" +
		"**Evidence.** The request's headers and the status of the answer. coalmine compares it with the same request without these headers. A server on this machine that answers a foreign Host and Origin is high, and so is one that lets any origin read the answer. A foreign Origin alone is low. A server in a sandbox is asked at the port over which it is probed, at other ports that speak MCP, and at other ports that it opened: there a route of its source that answers with data or changes something is medium.\n\n" +
		"**False positive when** a proxy before the server, which this probe did not pass, validates both headers.",
}

var casesCM703 = map[session.RemoteFact]remoteCase{
	session.RemoteRebinding: {finding.High, "the server answers requests for another Host with another Origin (DNS rebinding)"},
	session.RemoteOrigin:    {finding.Low, "the server does not validate the Origin header"},
	session.RemoteCORS:      {finding.High, "the server lets any web page read its answers (CORS)"},
	session.PortRebinding:   {finding.Medium, "a port that the server opened answers requests for another Host with another Origin (DNS rebinding)"},
	session.PortCORS:        {finding.Medium, "a port that the server opened lets any web page read its answers (CORS)"},
}

func checkCM703(r *Run) []finding.Finding { return remoteFindings(r, &cm703Doc, casesCM703) }
