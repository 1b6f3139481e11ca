package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

var cm202 = Rule{Rule: cm202Doc, Check: checkCM202}

var cm202Doc = finding.Rule{
	ID: "CM202", Name: "EgressDespiteLocal", Title: "Network access by a local-only tool", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Users and clients rely on a local tool keeping data on the machine.", Fix: "Remove the request, or set openWorldHint to true and change the description."},
	CWE:    []string{"CWE-200", "CWE-918"}, OWASP: []string{"MCP02"},
	Help: "A tool that is annotated `openWorldHint: false`, or whose description claims local work (\"purely local\", \"offline\", \"no network\"), tried to reach an address outside the sandbox or asked a name server. So does a server whose list of permissions (Docker's `disableNetwork`, ToolHive's profile, VS Code's sandbox) lets it reach nothing, in its calls and outside of them.\n\n" +
		"**Evidence.** The kernel's record of the attempt with the address; whether it succeeded does not matter. A closed world is not offline: under the annotation alone, a host of the user's own network that a declaration or the user names, or whose network a declaration speaks of, a host that the user gave to the server, and one of the server's own name where its instructions speak of a network or `websiteUrl` names its domain, are no breach. 'localhost', 'localization' and 'local file' are no such claim. Work that could belong to another call is low, unless every tool declares local work: then the promise binds the server at its start, between calls and at its end too.\n\n" +
		"**False positive when** the description speaks of something else that is local.",
}

func checkCM202(r *Run) []finding.Finding {
	var in, outside []finding.Finding
	var targets []string
	promised := r.promisedLocal()
	for _, e := range r.connections() {
		if !leaving(e) || e.Phase == finding.PhaseBuild || r.closedWorld(e) {
			continue
		}
		if e.Call == 0 {
			if promised != nil {
				outside, targets = append(outside, r.of(&cm202Doc, e, "")), append(targets, e.Target)
			}
			continue
		}
		claim := r.local(e.Tool)
		if claim == nil {
			continue
		}
		f := r.of(&cm202Doc, e, subject(e)+" declares local work ("+claim.Where+": “"+claim.Text+"”) and tried to reach "+r.groupedTarget(e))
		if e.Ambiguous && promised == nil {
			f.Severity = finding.Low
		}
		in = append(in, f)
	}
	return append(first(in), perTool(outside, targets, func(_ *finding.Finding, targets []string) string {
		who := "every tool declares local work"
		if len(r.Scope.Offline) > 0 {
			who = "a list of permissions lets the server reach nothing"
		}
		return who + " (" + promised.Where + ": “" + promised.Text + "”), and the server tried to reach " + list(targets, 3) + " outside of any call"
	})...)
}

// local is a tool's claim of local work, or the list of permissions that makes it so, nil for none.
func (r *Run) local(tool string) *scope.Claim {
	t := r.Scope.Tool(tool)
	switch {
	case t.ClaimsLocal():
		return &t.Local[0]
	case len(r.Scope.Offline) > 0:
		return &r.Scope.Offline[0]
	}
	return nil
}

// promisedLocal is the claim of the first tool where every tool declares local work, or the list of
// permissions that lets the server reach nothing: then no call can be the reason of traffic, whenever
// it comes. It is nil for none.
func (r *Run) promisedLocal() *scope.Claim {
	if len(r.Scope.Offline) > 0 {
		return &r.Scope.Offline[0]
	}
	if len(r.Scope.Hosts) > 0 || scope.AnyShown(r.Scope.Purpose.Network) || len(r.Scope.Tools) == 0 {
		return nil
	}
	for i := range r.Scope.Tools {
		if !r.Scope.Tools[i].ClaimsLocal() {
			return nil
		}
	}
	return &r.Scope.Tools[0].Local[0]
}
