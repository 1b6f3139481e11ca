package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

var cm503 = Rule{Rule: cm503Doc, Check: checkCM503, Shrink: ShrinkFresh}

var cm503Doc = finding.Rule{
	ID: "CM503", Name: "DuplicateDeclaration", Title: "Duplicate declaration", Severity: finding.Medium, Family: finding.FamilyDrift,
	Advice: finding.Advice{Why: "The user may approve one definition while the model uses the other.", Fix: "Use one definition for each name."},
	CWE:    []string{"CWE-694"}, OWASP: []string{"MCP03"},
	Help: "One listing holds two entries of the same name (of resources and templates: the same address). Clients differ in which of them counts: a user may approve one and a model may read the other. " +
		"High for two tools where one allows itself (by its annotations, or by arguments for commands and addresses) what the other rules out, medium for tools, prompts and templates that are declared differently, low where the entries are alike and for resources.\n\n" +
		"**Evidence.** The listing in `session.jsonl`.\n\n" +
		"**False positive when** never; it is what the list holds.",
}

// Duplicate is a name that several entries of one listing have; its Tool is the name.
type Duplicate struct {
	Fact
	// What is "tool", "prompt", "template" or "resource".
	What string
	// More says that one of them allows itself what another rules out.
	More bool
	// Alike says that the entries say the same.
	Alike bool
}

func checkCM503(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, d := range r.Wire.Duplicates {
		f := finding.Finding{
			Rule: cm503Doc.ID, Severity: cm503Doc.Severity, Title: cm503Doc.Title, Confidence: finding.Certain, Phase: finding.PhaseList, Call: d.Call,
			Message:     d.What + " “" + text.Printable(d.Tool, 80) + "” is declared twice in one listing, with different definitions",
			Fingerprint: finding.Fingerprint(cm503Doc.ID, d.What, d.Tool),
		}
		if d.What == "tool" {
			f.Tool = d.Tool
		}
		if d.Alike {
			f.Message = d.What + " “" + text.Printable(d.Tool, 80) + "” is declared twice in one listing"
		}
		if d.More {
			f.Severity = finding.High
			f.Message += "; one allows what the other forbids"
		}
		if d.Alike || d.What == "resource" {
			f.Severity = finding.Low
		}
		fact := d.Fact
		fact.Text = f.Message
		f.Evidence = facts([]Fact{fact})
		out = append(out, f)
	}
	return first(out)
}
