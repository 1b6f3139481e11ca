package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm101 = Rule{Rule: cm101Doc, Proof: ProofRead, Check: checkCM101}

var cm101Doc = finding.Rule{
	ID: "CM101", Name: "DecoySecretRead", Title: "Undeclared read of a decoy secret", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "On a user's machine this file holds a real credential.", Fix: fixSecret},
	CWE:    []string{"CWE-522", "CWE-200"}, OWASP: []string{"MCP01"},
	Help: "The server opened or read a file with a decoy secret, although nothing in its declaration needs this secret.\n\n" +
		"**Evidence.** The open is the kernel's own record with the descriptor's real path; *read* is the kernel's notice of an access to the contents. " +
		"A failed open is *attempted* and low, in another user's HOME too; a probe then starts the server once more with that HOME as its own. Files that libraries and programs look up by themselves are low: `~/.netrc` for an HTTP request, `~/.npmrc` before any call, the logins of git by git, outside calls the `.env` of the working directory or of one above that a search upwards found. " +
		"npm of the system or of node's own tree may read `~/.npmrc`, as long as it runs no code of others. " +
		"A kind of secret that the server or the tool names as its business (a Kubernetes server and `~/.kube/config`) is informational.\n\n" +
		"**False positive when** the server's documentation, not its declaration, explains the access.",
}

func checkCM101(r *Run) []finding.Finding {
	var out distinct
	for _, e := range r.secretFiles(finding.RungAttempted) {
		c := r.Canaries[e.Target]
		if e.Rung.Rank() >= finding.RungReturned.Rank() || e.Via == viaFile || e.Owner || isClientConfig(c.Kind) {
			continue
		}
		verb := map[finding.Rung]string{finding.RungAttempted: "tried to open", finding.RungOpened: "opened", finding.RungRead: "read"}[e.Rung]
		where, place := r.secretLocation(e.Target), c.Path
		if e.Elsewhere != "" {
			where, place = e.Elsewhere, e.Elsewhere
		}
		f := r.of(&cm101Doc, e, subject(e)+" "+verb+" "+where+"; nothing in its declaration needs it")
		f.Fingerprint = finding.Fingerprint("CM101", e.Tool, r.stable(place))
		switch {
		case r.dealsWith(c, e.Tool) || r.wasAsked(e, c):
			f.Severity = finding.Info
			f.Message = subject(e) + " " + verb + " " + where + ", which its declaration covers"
		case e.Rung == finding.RungAttempted || r.isLookup(e, c):
			f.Severity = finding.Low
		}
		if e.Actor != "" && !strings.HasPrefix(e.Actor, ".") {
			f.Message += " (by " + e.Actor + ")"
		}
		out.add(f)
	}
	return out.list
}
