package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm705 = Rule{Rule: cm705Doc, Check: checkCM705, Shrink: ShrinkNever}

var cm705Doc = finding.Rule{
	ID: "CM705", Name: "WeakAuthorization", Title: "Missing or misconfigured authorization", Severity: finding.Medium, Family: finding.FamilyRemote,
	Advice: finding.Advice{Why: "Others can use the tools, or obtain a user's token.", Fix: "Validate the token's signature, audience and expiry on each request. Publish RFC 9728 metadata, and require PKCE with S256.", Preview: true},
	CWE:    []string{"CWE-306", "CWE-287", "CWE-1390"}, OWASP: []string{"MCP07", "MCP01"},
	Help: "The server does not enforce authorization, or its OAuth metadata (RFC 9728, RFC 8414) allow attacks that the MCP specification rules out.\n\n" +
		"**Evidence.** The status of requests without and with invented credentials, and the metadata documents of the server's own origin. coalmine follows no address in them. Tools that are listed with an invented token or without the credentials that the user has, and http:// endpoints, are high. Missing PKCE (S256), the implicit grant, tokens in URLs, and metadata of another resource or issuer are medium. A refusal without a challenge or without metadata is low.\n\n" +
		"**False positive when** the listing is public on purpose and each call is authorized.",
}

var casesCM705 = map[session.RemoteFact]remoteCase{
	session.RemoteNoAuthorization:   {finding.High, "the server lists its tools without credentials"},
	session.RemoteAnyToken:          {finding.High, "the server accepts an invented token"},
	session.RemoteMetadataCleartext: {finding.High, "the OAuth metadata name an unencrypted address"},
	session.RemoteNoPKCE:            {finding.Medium, "the authorization server does not announce PKCE with S256"},
	session.RemoteImplicit:          {finding.Medium, "the authorization server offers the implicit grant"},
	session.RemoteQueryToken:        {finding.Medium, "the server accepts tokens in URLs"},
	session.RemoteResource:          {finding.Medium, "the OAuth metadata describe another resource"},
	session.RemoteIssuer:            {finding.Medium, "the OAuth metadata name another issuer than their own address"},
	session.RemoteNoChallenge:       {finding.Low, "the server refuses without a WWW-Authenticate challenge"},
	session.RemoteNoMetadata:        {finding.Low, "the server requires authorization and has no protected resource metadata"},
}

func checkCM705(r *Run) []finding.Finding { return remoteFindings(r, &cm705Doc, casesCM705) }
