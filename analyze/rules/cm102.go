package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
)

var cm102 = Rule{Rule: cm102Doc, Check: checkCM102}

var cm102Doc = finding.Rule{
	ID: "CM102", Name: "DecoySecretReturned", Title: "Decoy secret exposed in a response", Severity: finding.Critical, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "The client and its model now have the credential, and so does every log of the session.", Fix: "Remove credentials from results. Return only the fields that the tool declares."},
	CWE:    []string{"CWE-200", "CWE-522"}, OWASP: []string{"MCP01"},
	Help: "A message of the server contains the value of a decoy secret, raw or encoded. The secret comes from a file or from a metadata service. Everything that reads the server's responses now has it.\n\n" +
		"**Evidence.** The value itself, in a frame of `session.jsonl`. The value is random and exists nowhere else, so it cannot be there by accident.\n\n" +
		"It is low where the tool declares to show the configuration or the credentials of that kind. **False positive when** the call's own arguments named that file.",
}

func checkCM102(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret) {
		if c := r.Canaries[e.Target]; e.Rung != finding.RungReturned || c.Path == "" && c.URL == "" || c.Kind == canaries.KindRow {
			continue
		}
		f := r.of(&cm102Doc, e, subject(e)+" returned the secret of "+r.secretLocation(e.Target))
		if r.wasAsked(e, r.Canaries[e.Target]) {
			f.Severity = finding.Info
			f.Message += ", which its arguments asked for"
		} else if r.shows(e, r.Canaries[e.Target]) {
			f.Severity = finding.Low
			f.Message += ", which it declares to show"
		}
		out = append(out, f)
	}
	return first(out)
}
