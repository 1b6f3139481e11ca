package session

// SandboxRemote is the Header's Sandbox of a run in none: the server is reached by its address.
const SandboxRemote = "none: a remote server"

// Remote is where a server is that runs outside every sandbox.
type Remote struct {
	// URL is without user, query and fragment.
	URL string `json:"url"`
	// Flags are those of coalmine probe that repeat the run, beside the URL.
	Flags []string `json:"flags,omitempty"`
}

// RemoteFact names something that was seen in HTTP and TLS. A MarkHTTP has it as What.
type RemoteFact string

// The facts. Each is an observation; the rules CM701 to CM706 say what it comes to.
const (
	// RemoteCleartext: the address is http:// and not on this machine.
	RemoteCleartext RemoteFact = "cleartext"
	// RemoteDowngrade: a redirect leads from https to http.
	RemoteDowngrade RemoteFact = "downgrade"
	// RemoteNoHSTS: an answer over TLS has no Strict-Transport-Security.
	RemoteNoHSTS RemoteFact = "no-hsts"
	// RemoteCertificate: the certificate is not valid.
	RemoteCertificate RemoteFact = "certificate"
	// RemoteOldTLS: TLS 1.0 or 1.1 is accepted.
	RemoteOldTLS RemoteFact = "old-tls"
	// RemoteRebinding: a server on this machine answers another Host and Origin.
	RemoteRebinding RemoteFact = "rebinding"
	// RemoteOrigin: a request with an unknown Origin is answered.
	RemoteOrigin RemoteFact = "origin"
	// RemoteCORS: any origin may read answers, with the user's credentials or from this machine.
	RemoteCORS RemoteFact = "cors"
	// RemoteSessionShort: a session id has less than 64 bits.
	RemoteSessionShort RemoteFact = "session-short"
	// RemoteSessionNext: two session ids differ in a few characters.
	RemoteSessionNext RemoteFact = "session-predictable"
	// RemoteSessionText: a session id has characters that the specification rules out.
	RemoteSessionText RemoteFact = "session-characters"
	// RemoteSessionInvented: a session id that the server never gave is accepted.
	RemoteSessionInvented RemoteFact = "session-invented"
	// RemoteSessionEnded: a session goes on after the server confirmed its end.
	RemoteSessionEnded RemoteFact = "session-ended"
	// RemoteCookie: a cookie lacks Secure or HttpOnly.
	RemoteCookie RemoteFact = "cookie"
	// RemoteNoAuthorization: the tools are listed without the credentials that the user has.
	RemoteNoAuthorization RemoteFact = "authorization-not-enforced"
	// RemoteAnyToken: an invented token is accepted where none is not.
	RemoteAnyToken RemoteFact = "any-token"
	// RemoteNoChallenge: a refusal names no authorization metadata.
	RemoteNoChallenge RemoteFact = "no-challenge"
	// RemoteNoMetadata: a server that refuses has no protected resource metadata.
	RemoteNoMetadata RemoteFact = "no-metadata"
	// RemoteResource: the metadata name another resource.
	RemoteResource RemoteFact = "metadata-resource"
	// RemoteIssuer: the metadata name another issuer than their address.
	RemoteIssuer RemoteFact = "metadata-issuer"
	// RemoteMetadataCleartext: the metadata name an http:// address.
	RemoteMetadataCleartext RemoteFact = "metadata-cleartext"
	// RemoteNoPKCE: the authorization server does not announce S256.
	RemoteNoPKCE RemoteFact = "no-pkce"
	// RemoteImplicit: the authorization server offers the implicit grant.
	RemoteImplicit RemoteFact = "implicit-grant"
	// RemoteQueryToken: tokens may stand in the URL.
	RemoteQueryToken RemoteFact = "token-in-url"
	// RemoteRedirect: the server redirects messages to another origin.
	RemoteRedirect RemoteFact = "redirect"
	// PortNoAuthorization: a port that a server in a sandbox opened answers without credentials. N is the port, of
	// this and of the facts below.
	PortNoAuthorization RemoteFact = "port-authorization"
	// PortRebinding: such a port, another one than the server is probed over, answers another Host and Origin.
	PortRebinding RemoteFact = "port-rebinding"
	// PortCORS: any origin may read what such a port answers.
	PortCORS RemoteFact = "port-cors"
)
