package rules

import "github.com/coalmine-dev/coalmine/analyze/finding"

var cm110 = Rule{Rule: cm110Doc, Check: checkCM110}

var cm110Doc = finding.Rule{
	ID: "CM110", Name: "SecretWrittenToFile", Title: "Decoy secret written to another file", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "A copied credential spreads with the file: into repositories, backups and archives.", Fix: "Do not copy credentials. Refer to the original file instead."},
	CWE:    []string{"CWE-312", "CWE-538"}, OWASP: []string{"MCP01"},
	Help: "The server wrote the value of a decoy secret to another file. In a workspace, the secret goes wherever the workspace goes.\n\n" +
		"**Evidence.** After each call the files that were written are searched, raw, encoded and compressed. The value is random and exists nowhere else.\n\n" +
		"A kind of secret that the server or the tool names as its business, and a file whose path the arguments gave, are informational. **False positive when** a program keeps a documented cache of its own credentials.",
}

// viaFile is the channel of a secret that was written to a file.
const viaFile = "file"

func checkCM110(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret) {
		c, ok := r.Canaries[e.Target]
		if !ok || e.Via != viaFile || ofMachine(c.Kind) || c.Kind == KindGiven {
			continue
		}
		f := r.of(&cm110Doc, e, subject(e)+" wrote the secret of "+r.secretLocation(e.Target)+" to another file")
		f.Fingerprint = finding.Fingerprint("CM110", e.Tool, r.stable(c.Path), c.Env, c.URL)
		if r.dealsWith(c, e.Tool) || r.wasAsked(e, c) {
			f.Severity = finding.Info
		}
		out = append(out, f)
	}
	return first(out)
}
