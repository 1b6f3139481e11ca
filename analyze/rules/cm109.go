package rules

import "github.com/coalmine-dev/coalmine/analyze/finding"

var cm109 = Rule{Rule: cm109Doc, Check: checkCM109}

var cm109Doc = finding.Rule{
	ID: "CM109", Name: "SecretUsedAtIssuer", Title: "A decoy secret was used at its issuer", Severity: finding.Info,
	CWE: []string{"CWE-522"}, OWASP: []string{"MCP01"},
	Help: "A decoy credential was sent to the service that issued it, over TLS and in the place that the protocol has for credentials: what npm does with its token and curl with a login of `~/.netrc`.\n\n" +
		"**Evidence.** The request as the sinkhole kept it. The name that was looked up, the one in TLS and the one in the request all have to be the issuer's; anything else has *left* (CM103).\n\n" +
		"**False positive when** never: it is no accusation. Whether the server should use this credential at all is for its reader to say.",
}

func checkCM109(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret) {
		c, ok := r.Canaries[e.Target]
		if !ok || e.Rung != finding.RungLeft || e.Used == "" {
			continue
		}
		f := r.of(&cm109Doc, e, subject(e)+" used the secret of "+r.where(e.Target)+" at its issuer "+e.Host+" ("+e.Used+")")
		f.Fingerprint = finding.Fingerprint("CM109", e.Tool, r.stable(c.Path), c.Env, c.URL, e.Host)
		out = append(out, f)
	}
	return first(out)
}
