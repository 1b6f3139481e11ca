package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

var cm107 = Rule{Rule: cm107Doc, Check: checkCM107}

var cm107Doc = finding.Rule{
	ID: "CM107", Name: "OpaquePayload", Title: "Opaque network traffic", Severity: finding.Info, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "Encrypted traffic can carry any data, so coalmine cannot rule out exfiltration.", Fix: "Trust the system's certificate store. If pinning is required, accept the host with accept_opaque."},
	CWE:    []string{"CWE-319"}, OWASP: []string{"MCP02"},
	Help: "The server sent data that the sinkhole could not decrypt: it trusts only its own certificates, or uses an encrypted protocol of its own.\n\n" +
		"**Evidence.** The host, from the name that was looked up and the TLS greeting. What was sent is not known, so the run cannot be called clean unless the policy accepts the host. " +
		"With the eBPF tracer, what OpenSSL, BoringSSL, GnuTLS and Go's crypto/tls send is read before they encrypt it: a connection that was read so from its begin to its end is not opaque. Where the client refuses the sinkhole's certificate, nothing is sent, so that it stays opaque.\n\n" +
		"A tool that says that it looks at certificates, and left after the handshake of TLS without sending anything in it, has sent nothing. **False positive when** pinning is what the server's documentation promises.",
}

func checkCM107(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.NetConnect) {
		if !e.Opaque || e.Unsent && r.inspectsTLS(e.Tool) {
			continue
		}
		f := r.of(&cm107Doc, e, subject(e)+" sent data to "+e.Target+" that coalmine cannot decrypt")
		out = append(out, f)
	}
	return first(out)
}

// certificateWords are those of a tool that looks at how a host does TLS.
var certificateWords = []string{"certificate", "certificates", "cert", "certs", "tls", "ssl", "handshake", "x509", "fingerprint"}

// inspectsTLS reports whether a tool, or where none is known the server, says that it looks
// at certificates: it needs no more of a connection than the handshake.
func (r *Run) inspectsTLS(tool string) bool {
	if tool != "" {
		t := r.Scope.Tool(tool)
		return slices.ContainsFunc(certificateWords, t.Says)
	}
	return r.says(tool, certificateWords)
}

// OpaqueFlows are the flows whose payload could not be read, except those in which nothing was to be sent.
func (r *Run) OpaqueFlows() []profile.OpaqueFlow {
	return slices.DeleteFunc(slices.Clone(r.Profile.Opaque), func(f profile.OpaqueFlow) bool { return f.Unsent && r.inspectsTLS(f.Tool) })
}
