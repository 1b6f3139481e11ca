package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm410 = Rule{Rule: cm410Doc, Check: checkCM410, Observations: []string{"pii_in_result_*"}}

var cm410Doc = finding.Rule{
	ID: "CM410", Name: "SecretInResult", Title: "Credential or personal data in a result", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The data reaches the model and every log of the session.", Fix: "Redact credentials and personal data from results."},
	CWE:    []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP10"},
	Help: "What a tool returned, or the server wrote on stderr (which clients keep in logs), has the shape, and where there is one the check digits, of a private key, a provider's key, a token, a card, an account or a social security number.\n\n" +
		"**Evidence.** The category and the length; the value itself is never shown. Glassport's names: `pii_in_result_…`, severity 3. In a probe it is medium, since nothing there is anyone's, low where the tool speaks of keys, tokens, cards or samples, and quiet for decoys, which are CM101's and CM103's, and for what a call brought.\n\n" +
		"**False positive when** the data was what the user asked for, or is a published example.",
}

// keyWords are those of a tool that makes, shows or reads keys, tokens and numbers with check digits.
var keyWords = []string{
	"key", "keys", "keypair", "pem", "certificate", "certificates", "token", "tokens", "jwt", "password", "passwords", "passphrase", "passphrases", "secret", "secrets", "credential", "credentials",
	"card", "cards", "iban", "account", "accounts", "fake", "sample", "samples", "mock", "dummy", "random", "ssn",
}

func checkCM410(r *Run) []finding.Finding {
	out := r.detections(cm410Doc.ID, func(d *Detected) bool {
		d.Severity = finding.Medium // nothing here is anyone's: at worst it is what the server brought along
		if r.says(d.Tool, keyWords) {
			d.Severity = finding.Low // to make or to show such a thing is what it declares
		}
		return !d.Decoy // a decoy that comes back is another rule's
	})
	return first(append(out, r.spills()...))
}

// spills are what the server wrote on stderr, from where it goes into logs of clients. What a
// call brought is the user's own.
func (r *Run) spills() []finding.Finding {
	var out []finding.Finding
	for _, s := range r.Spilled {
		whose, severity := "stderr holds "+s.What, finding.Medium
		if r.says(s.Tool, keyWords) {
			severity = finding.Low
		}
		if r.asked(s.Call, s.Value) {
			whose, severity = "stderr holds "+s.What+" that the call brought", finding.Low
		}
		out = append(out, finding.Finding{
			Rule: cm410Doc.ID, Severity: severity, Title: cm410Doc.Title, Message: subject(&finding.Effect{Tool: s.Tool, Phase: s.Phase}) + ": " + whose, Tool: s.Tool, Call: s.Call, Phase: s.Phase,
			Confidence: finding.Certain, Evidence: facts([]Fact{s.Fact}), Fingerprint: finding.Fingerprint(cm410Doc.ID, s.Tool, "stderr", s.Category),
		})
	}
	return out
}
