package rules

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
)

var cm109 = Rule{Rule: cm109Doc, Check: checkCM109}

var cm109Doc = finding.Rule{
	ID: "CM109", Name: "SecretUsedAtIssuer", Title: "Undeclared use of a decoy credential at its issuer", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "The server acts with the user's account, and nothing tells the user.", Fix: "Name the service and the credential in the tool's description."},
	CWE:    []string{"CWE-522"}, OWASP: []string{"MCP01"},
	Help: "The server sent a decoy credential to the service that issued it, over TLS and in the place that the protocol has for credentials. This is what npm does with its token and curl with a login of `~/.netrc`.\n\n" +
		"**Evidence.** The request as the sinkhole kept it. The name that was looked up, the one in TLS and the one in the request all have to be the issuer's; anything else has *left* (CM103).\n\n" +
		"It is informational, and no accusation, where the server or the tool names the issuer or what it does there, or where a library used it for a declared request. It is low where a token of the environment only reads the server's own project at the issuer. Else the server used the credential in a way that the user does not see. " +
		"**False positive when** the server's documentation, not its declaration, names the service.",
}

func checkCM109(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret) {
		c, ok := r.Canaries[e.Target]
		if !ok || e.Rung != finding.RungLeft || e.Used == "" {
			continue
		}
		f := r.of(&cm109Doc, e, subject(e)+" used the secret of "+r.secretLocation(e.Target)+" at its issuer "+e.Host+" ("+e.Used+")")
		if e.Owner || !r.usesUndeclared(e, c) {
			f.Severity = finding.Info
		}
		f.Fingerprint = finding.Fingerprint("CM109", e.Tool, r.stable(c.Path), c.Env, c.URL, e.Host)
		if f.Severity != finding.Info && c.Env != "" && r.readsOwnProject(e) {
			f.Severity = finding.Low
			f.Message += ", to read the server's own project"
			f.Fingerprint = finding.Fingerprint("CM109", e.Tool, c.Env, e.Host, "own")
		}
		out = append(out, f)
	}
	return first(out)
}

// usesUndeclared reports whether nothing that the server declares lets expect that it uses a
// secret: neither its kind, nor its issuer's name, nor a network at all.
func (r *Run) usesUndeclared(e *finding.Effect, c canaries.Canary) bool {
	if r.dealsWith(c, e.Tool) || r.namesHost(e.Host) || r.isLookup(e, c) && c.Kind == "netrc" || asksRegistry(e, c) {
		return false
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(e.Host); err == nil {
		name, _, _ := strings.Cut(domain, ".")
		if r.says(e.Tool, []string{name}) {
			return false
		}
	}
	t := r.Scope.Tool(e.Tool)
	return t.ClaimsLocal() || len(t.Network) == 0 && len(r.Scope.Purpose.Network) == 0 && len(t.URLs) == 0 || c.Path != ""
}

// accountParts begin the paths by which APIs tell of whoever asks.
var accountParts = []string{"user", "users", "me", "self", "account", "accounts", "orgs", "notifications"}

// readsOwnProject reports whether a request only reads, and the server's own name is the second, third or fourth part of
// its path ("/repos/OWNER/NAME"): a token from the environment then raises a limit of requests, and shows nothing of
// the user's.
func (r *Run) readsOwnProject(e *finding.Effect) bool {
	path, reads := strings.CutPrefix(e.Request, "GET /")
	parts := strings.SplitN(path, "/", 5)
	return reads && !slices.Contains(accountParts, parts[0]) && slices.ContainsFunc(parts[1:min(len(parts), 4)], r.isOwnName)
}

// asksRegistry reports whether npm's token went along with a question to npm's registry:
// npm sends it with each, whatever server it was started by.
func asksRegistry(e *finding.Effect, c canaries.Canary) bool {
	return c.Kind == "npm" && strings.HasPrefix(e.Request, "GET /")
}
