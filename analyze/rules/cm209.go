package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
)

var cm209 = Rule{Rule: cm209Doc, Check: checkCM209}

var cm209Doc = finding.Rule{
	ID: "CM209", Name: "UndeclaredEgress", Title: "Undeclared network access", Severity: finding.Low, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Users cannot expect this connection from the description.", Fix: fixDeclareNetwork},
	CWE:    []string{"CWE-200"}, OWASP: []string{"MCP02"},
	Help: "During a call, or between calls, the server tried to reach an address outside, although neither the tool nor the server mentions a network, URLs or a remote service. No declaration forbids it either; CM202 covers that case. The finding is medium where a list of permissions next to the server (Docker's `allowHosts`, ToolHive's profile, VS Code's sandbox) names other hosts, and where the host got the arguments of the call, nothing names it, and no comparison shows that the answers need it.\n\n" +
		"**Evidence.** The kernel's record of the attempt.\n\n" +
		"**False positive when** the description leaves the service unnamed (\"gets the weather\").",
}

func checkCM209(r *Run) []finding.Finding {
	var out []finding.Finding
	promised := r.promisedLocal() != nil
	for _, e := range r.connections() {
		if !leaving(e) || e.Call == 0 && promised || (e.Call == 0 && !e.Phase.Unpinned() && e.Phase != finding.PhaseShutdown) {
			continue
		}
		t := r.Scope.Tool(e.Tool)
		if hosts := r.Scope.Hosts; len(hosts) > 0 && !r.permitted(e) {
			f := r.of(&cm209Doc, e, subject(e)+" tried to reach "+r.groupedTarget(e)+", which "+hosts[0].Where+" does not permit")
			if !e.Ambiguous {
				f.Severity = finding.Medium
			}
			out = append(out, f)
			continue
		}
		if len(r.Scope.Offline) > 0 && e.Call > 0 {
			continue // CM202 has it
		}
		if t.ClaimsLocal() || len(t.Network) > 0 || len(r.Scope.Purpose.Network) > 0 || r.isOwnCloud(reached(e), e.Tool) {
			continue
		}
		f := r.of(&cm209Doc, e, subject(e)+" tried to reach "+r.groupedTarget(e)+"; its declaration mentions no network")
		if at, did := r.deedOn(e); at == placeCopied && !e.Ambiguous {
			f.Severity = r.severity(e, at, did)
			f.Message += ", and what the call was given went there"
		}
		out = append(out, f)
	}
	return first(out)
}

// permitted reports whether a list of permissions names the peer of an effect.
func (r *Run) permitted(e *finding.Effect) bool {
	var list policy.List
	for _, c := range r.Scope.Hosts {
		name := strings.ToLower(c.Text)
		if _, ok := askedName(e); ok {
			name, _, _ = strings.Cut(name, ":") // a question names no port
		}
		list = append(list, policy.Item{Text: name}, policy.Item{Text: "*." + strings.TrimLeft(name, "*.")})
	}
	name := strings.ToLower(peer(e))
	host := strings.ToLower(e.Host)
	return list.Host(name) != nil || host != "" && list.Host(host) != nil
}
