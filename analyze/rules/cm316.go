package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm316 = Rule{Rule: cm316Doc, Check: checkCM316}

var cm316Doc = finding.Rule{
	ID: "CM316", Name: "ExternalEntity", Title: "XML external entity (XXE)", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever makes the document reads the user's files, or sends requests from the user's machine.", Fix: "Leave external entities and document types off: defusedxml in Python, resolve_entities=False in lxml, noent and dtdload off in libxml2.", Preview: true},
	CWE:    []string{"CWE-611", "CWE-827"}, OWASP: []string{"MCP05"},
	Help: "A parser followed an external entity, or the address of a document type, in an XML document that a call gave: it opened or returned a planted file, or asked a host that stood in the document alone.\n\n" +
		"**Evidence.** The file's text in a frame, the kernel's record of the open, or the request at the sinkhole.\n\n" +
		"**False positive when** the tool declares to follow what a document names.",
}

func checkCM316(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OracleEntity) {
		if h.Path != "" && r.Profile.Unasked(r.toolOf(h.Call), h.Path) {
			continue
		}
		did := r.led(h)
		if h.How == profile.HitAsked {
			did = "asked " + h.Target
		}
		f := r.proven(&cm316Doc, h, "a document in "+r.quoted(h)+" had an external entity ("+h.Context+"), and the parser "+did)
		f.Rung = map[string]finding.Rung{profile.HitReturn: finding.RungReturned, profile.HitOpen: finding.RungOpened}[h.How]
		out = append(out, f)
		contexts = append(contexts, h.Context)
	}
	return aboutOne(out, contexts)
}
