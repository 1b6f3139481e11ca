package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm105 = Rule{Rule: cm105Doc, Check: checkCM105}

var cm105Doc = finding.Rule{
	ID: "CM105", Name: "ClientConfigurationRead", Title: "Another MCP client's configuration was opened", Severity: finding.High,
	CWE: []string{"CWE-200", "CWE-668"}, OWASP: []string{"MCP01", "MCP03"},
	Help: "A configuration file of an MCP client, which names the neighbour servers and their keys, was opened or read.\n\n" +
		"**Evidence.** The kernel's record of the open with the real path. A failed open is low.\n\n" +
		"**False positive when** managing client configurations is the server's declared purpose.",
}

func isClientConfig(kind string) bool { return strings.HasPrefix(kind, "mcp") }

func checkCM105(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.secretFiles(finding.RungAttempted) {
		c := r.Canaries[e.Target]
		if !isClientConfig(c.Kind) || e.Via == viaFile || e.Rung.Rank() >= finding.RungReturned.Rank() {
			continue
		}
		where, place := r.where(e.Target), c.Path
		if e.Elsewhere != "" {
			where, place = e.Elsewhere, e.Elsewhere
		}
		f := r.of(&cm105Doc, e, subject(e)+" opened "+where+", the configuration of an MCP client")
		f.Fingerprint = finding.Fingerprint("CM105", e.Tool, r.stable(place))
		if e.Rung == finding.RungAttempted {
			f.Severity = finding.Low
		}
		out = append(out, f)
	}
	return first(out)
}
