package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm701 = Rule{Rule: cm701Doc, Check: checkCM701, Shrink: ShrinkNever}

var cm701Doc = finding.Rule{
	ID: "CM701", Name: "CleartextTransport", Title: "Unencrypted connection", Severity: finding.High, Family: finding.FamilyRemote,
	Advice: finding.Advice{Why: "Everybody on the way reads the messages and credentials, and can change them.", Fix: "Serve MCP over https only, redirect nothing to http, and send Strict-Transport-Security.", Preview: true},
	CWE:    []string{"CWE-319"}, OWASP: []string{"MCP01"},
	Help: "A remote server is reached over plain HTTP, or it lets an encrypted connection fall back to plain HTTP.\n\n" +
		"**Evidence.** The address, and the server's redirects and headers. Plain HTTP to another machine and a redirect from https to http are high. A missing Strict-Transport-Security header is informational. HTTP on the loopback address is not a finding.\n\n" +
		"**False positive when** the network between both is private and encrypted by other means, such as a VPN.",
}

var casesCM701 = map[session.RemoteFact]remoteCase{
	session.RemoteCleartext: {finding.High, "the connection to the server is not encrypted"},
	session.RemoteDowngrade: {finding.High, "the server redirects from https to http"},
	session.RemoteNoHSTS:    {finding.Info, "the server sends no Strict-Transport-Security header"},
}

func checkCM701(r *Run) []finding.Finding { return remoteFindings(r, &cm701Doc, casesCM701) }
