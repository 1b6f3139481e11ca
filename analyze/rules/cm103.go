package rules

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm103 = Rule{Rule: cm103Doc, Proof: ProofSent, Check: checkCM103}

var cm103Doc = finding.Rule{
	ID: "CM103", Name: "DecoySecretLeft", Title: "Decoy secret exfiltrated over the network", Severity: finding.Critical, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "Whoever runs the receiving host has the credential.", Fix: "Remove the code that sends the credential. Rotate real credentials that this server could read."},
	CWE:    []string{"CWE-200", "CWE-201"}, OWASP: []string{"MCP01"},
	Help: "The server sent the value of a decoy secret to the network: in a request, a datagram, a DNS name, or split over several of them.\n\n" +
		"**Evidence.** The bytes themselves, as the sinkhole kept them, or as the client handed them to its TLS library (“read before encryption”): flow, host, protocol, offset, and the encoding (raw, hex, base64, compressed, split over labels and parameters …). " +
		"Bytes that were handed to TLS and never left, because the client refused the sinkhole's certificate after that, count too: the evidence says so. No decoy exists anywhere else in the world, so there is no other way to have it. A credential sent to its own issuer, in the place of the protocol for it, over TLS, is *used* and told by CM109. One sent to a port of the loopback address on which nothing of the server's listens is high. A secret that the user gave the server (`--env`) counts where it goes to a host that nothing names, after another, over no protocol that has credentials, or from a tool that declares local work to a host whose domain does not begin with the variable's first word.\n\n" +
		"**False positive when** the issuer is one that the decoy does not know, such as a company's own mirror.",
}

func checkCM103(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret) {
		c, ok := r.Canaries[e.Target]
		if !ok || e.Rung != finding.RungLeft || e.Used != "" || ofMachine(c.Kind) || c.Kind == KindGiven && !r.leaks(e) {
			continue
		}
		f := r.of(&cm103Doc, e, subject(e)+" sent the secret of "+r.secretLocation(e.Target)+" to "+e.Host+" over "+e.Via)
		f.Evidence = append(r.before(e), f.Evidence...)
		f.Fingerprint = finding.Fingerprint("CM103", e.Tool, r.stable(c.Path), c.Env, c.URL, e.Host, e.Via)
		if ip, err := netip.ParseAddr(e.Host); err == nil && ip.IsLoopback() {
			f.Severity = finding.High // a lab posts there, and so may a helper that was not started
		}
		out = append(out, f)
	}
	return first(out)
}

// before is how the secret was got: the first of each lower rung in the same
// call, in the order of time.
func (r *Run) before(e *finding.Effect) []finding.Evidence {
	var out []finding.Evidence
	for _, o := range r.effects(finding.Secret) {
		if o.Target == e.Target && o.Call == e.Call && o.Rung.Rank() < e.Rung.Rank() && len(out) < maxEvidence/2 {
			for _, ev := range o.Evidence {
				if !slices.Contains(out, ev) {
					out = append(out, ev)
				}
			}
		}
	}
	return out[:min(len(out), maxEvidence/2)]
}

// leaks reports whether a secret that the user gave the server went where it does not belong:
// no declaration, no argument and no setting names the host, and another one got it first.
func (r *Run) leaks(e *finding.Effect) bool {
	if r.namesPeer(e.Host) || r.givenHost(e.Host) || r.asked(e.Call, e.Host) {
		return false
	}
	t := r.Scope.Tool(e.Tool)
	if e.Via == "tcp" || e.Via == "udp" || t.ClaimsLocal() && !namesIssuer(r.Canaries[e.Target].Env, e.Host) {
		return true
	}
	for i := range r.Profile.Effects {
		if o := &r.Profile.Effects[i]; o.Kind == finding.Secret && o.Target == e.Target && o.Rung == finding.RungLeft {
			return domain(o.Host) != domain(e.Host)
		}
	}
	return false
}

// ofAnyService are words of variables' names that stand for no service.
var ofAnyService = []string{"access", "admin", "auth", "client", "config", "credential", "database", "default", "login", "main", "mcp", "oauth", "password", "private", "proxy", "public", "secret", "server", "service", "token", "user"}

// namesIssuer reports whether a variable's first word stands in the domain of a host: $HEVY_API_KEY is a key of
// hevyapp.com. Whether a tool that declares a closed world may go there, CM202 judges.
func namesIssuer(env, host string) bool {
	word, _, _ := strings.Cut(strings.ToLower(env), "_")
	return len(word) > 3 && !slices.Contains(ofAnyService, word) && strings.HasPrefix(domain(host), word)
}

// domain is the part of a host's name that somebody registered, the host for an address.
func domain(host string) string {
	if d, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return d
	}
	return host
}
