package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm702 = Rule{Rule: cm702Doc, Check: checkCM702, Shrink: ShrinkNever}

var cm702Doc = finding.Rule{
	ID: "CM702", Name: "WeakTLS", Title: "Invalid certificate or outdated TLS", Severity: finding.High, Family: finding.FamilyRemote,
	Advice: finding.Advice{Why: "A client that accepts the connection cannot tell the server from an attacker.", Fix: "Install a valid certificate of a trusted authority and renew it automatically. Require TLS 1.2 or later.", Preview: true},
	CWE:    []string{"CWE-295", "CWE-326"}, OWASP: []string{"MCP01"},
	Help: "The server's certificate is not valid for its name and time, or the server accepts TLS 1.0 or 1.1.\n\n" +
		"**Evidence.** The error of the certificate's verification by this machine's trust store, or a finished handshake with the old version. An invalid certificate is high, and coalmine sends nothing over such a connection. An old version beside newer ones is low.\n\n" +
		"**False positive when** a private certificate authority issued the certificate and this machine does not trust it.",
}

var casesCM702 = map[session.RemoteFact]remoteCase{
	session.RemoteCertificate: {finding.High, "the server's certificate is not valid"},
	session.RemoteOldTLS:      {finding.Low, "the server accepts TLS 1.1 or older"},
}

func checkCM702(r *Run) []finding.Finding { return remoteFindings(r, &cm702Doc, casesCM702) }
