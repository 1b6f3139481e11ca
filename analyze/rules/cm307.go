package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm307 = Rule{Rule: cm307Doc, Check: checkCM307, Shrink: ShrinkFresh}

var cm307Doc = finding.Rule{
	ID: "CM307", Name: "PrototypePollution", Title: "Prototype pollution", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "One call changes the behaviour of the server for all later calls.", Fix: "Merge objects with Object.create(null) or a Map, and reject __proto__, constructor and prototype keys."},
	CWE:    []string{"CWE-1321"}, OWASP: []string{"MCP05"},
	Help: "A call with the member `__proto__` or `constructor.prototype` in its arguments, or with a path of names such as `__proto__.title` in a text, changed later tools/list responses: they contain the member's text. Or another tool returned that text " +
		"when it was asked for a member, such as `view.title`, of an object that no call had changed.\n\n" +
		"**Evidence.** The text, drawn for that call alone, in an answer to `tools/list`, or to a call that names it in no argument. A tool that gives the text also where it is " +
		"asked for a member that cannot be there proves nothing.\n\n" +
		"**False positive when** the tool's declared purpose is to declare tools.",
}

func checkCM307(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Hits {
		h := &r.Profile.Hits[i]
		if h.Oracle != session.OraclePrototype {
			continue
		}
		if h.How == profile.HitReturn && h.Context == session.PrototypeInherited && !r.answersAnyway(h) {
			out = append(out, r.proven(&cm307Doc, h, "“"+r.toolOf(h.Call)+"” returned from an object that nobody changed what an earlier call put into the prototype of all objects"))
		}
		if h.How != profile.HitListed {
			continue
		}
		member := "the member "
		if !h.Undeclared {
			member = "the path "
		}
		f := r.proven(&cm307Doc, h, member+h.Context+" in the arguments of “"+r.toolOf(h.Call)+"” changed the server's tools/list")
		out = append(out, f)
	}
	return first(out)
}

// answersAnyway reports whether a tool gave the same text when it was asked for a member that no object has.
func (r *Run) answersAnyway(h *profile.Hit) bool {
	return slices.ContainsFunc(r.Profile.Hits, func(o profile.Hit) bool {
		return o.Oracle == h.Oracle && o.Context == session.PrototypeControl && o.Value == h.Value && r.toolOf(o.Call) == r.toolOf(h.Call)
	})
}
