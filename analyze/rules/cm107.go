package rules

import "github.com/coalmine-dev/coalmine/analyze/finding"

var cm107 = Rule{Rule: cm107Doc, Check: checkCM107}

var cm107Doc = finding.Rule{
	ID: "CM107", Name: "OpaquePayload", Title: "What was sent could not be read", Severity: finding.Info,
	CWE: []string{"CWE-319"}, OWASP: []string{"MCP02"},
	Help: "The server sent something that the sinkhole could not open: it trusts only certificates of its own choice, or speaks an encrypted protocol of its own.\n\n" +
		"**Evidence.** The host, from the name that was looked up and the TLS greeting. What was sent is not known, so the run can not be called clean unless the policy accepts the host.\n\n" +
		"**False positive when** pinning is what the server's documentation promises.",
}

func checkCM107(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.NetConnect) {
		if !e.Opaque {
			continue
		}
		f := r.of(&cm107Doc, e, subject(e)+" sent something to "+e.Target+" that could not be read")
		out = append(out, f)
	}
	return first(out)
}
