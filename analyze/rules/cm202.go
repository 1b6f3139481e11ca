package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm202 = Rule{Rule: cm202Doc, Check: checkCM202}

var cm202Doc = finding.Rule{
	ID: "CM202", Name: "EgressDespiteLocal", Title: "A tool that declares local work tried to reach the network", Severity: finding.High,
	CWE: []string{"CWE-200", "CWE-918"}, OWASP: []string{"MCP02"},
	Help: "A tool that is annotated `openWorldHint: false`, or whose description claims local work (\"purely local\", \"offline\", \"no network\"), tried to reach an address outside the sandbox or asked a name server. So does any tool of a server whose list of permissions (Docker's `disableNetwork`, ToolHive's profile, VS Code's sandbox) lets it reach nothing.\n\n" +
		"**Evidence.** The kernel's record of the attempt with the address; whether it succeeded does not matter. 'localhost', 'localization' and 'local file' are no such claim. Work that could belong to another call is low.\n\n" +
		"**False positive when** the description speaks of something else that is local.",
}

func checkCM202(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.NetConnect) {
		t := r.Scope.Tool(e.Tool)
		claims := r.Scope.Offline
		if t.ClaimsLocal() {
			claims = t.Local
		}
		if e.Call == 0 || !leaving(e) || len(claims) == 0 {
			continue
		}
		claim := claims[0]
		f := r.of(&cm202Doc, e, subject(e)+" declares local work ("+claim.Where+": “"+claim.Text+"”) and tried to reach "+e.Target)
		if e.Ambiguous {
			f.Severity = finding.Low
		}
		out = append(out, f)
	}
	return first(out)
}
