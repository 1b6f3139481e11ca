package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

var cm504 = Rule{Rule: cm504Doc, Check: checkCM504, Shrink: ShrinkNever}

var cm504Doc = finding.Rule{
	ID: "CM504", Name: "DeclarationDrift", Title: "Declaration changed since an earlier run", Severity: finding.High, Family: finding.FamilyDrift,
	Advice: finding.Advice{Why: "Nobody has reviewed what the server declares now, and clients do not ask again.", Fix: "Review the difference, then record the new state (coalmine lock). Authors: publish a new version for each change.", Preview: true},
	CWE:    []string{"CWE-494"}, OWASP: []string{"MCP03", "MCP04"},
	Help: "The server declares something else than in the run of `--since` or the file of `--lock`: a description, title, schema or annotation of a tool, the instructions, a new or a missing tool. A server that is approved once and changes later is known as a rug pull.\n\n" +
		"**Evidence.** The listing in `session.jsonl`, with both texts where the earlier run has them. A change under the same name is high, and low where only the values of an enum, a default or an example differ. A new tool is medium, and high where it changes something or runs commands. A missing tool is low.\n\n" +
		"**False positive when** you updated the server and reviewed the change. Record the new state then (`coalmine lock`).",
}

func checkCM504(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, d := range r.Drifted {
		f := finding.Finding{
			Rule: cm504Doc.ID, Severity: finding.High, Title: cm504Doc.Title, Confidence: finding.Certain, Phase: finding.PhaseList, Tool: d.Tool,
			Fingerprint: finding.Fingerprint(cm504Doc.ID, d.Tool, string(d.Kind), strings.Join(d.Members, ",")),
		}
		what := "tool “" + text.Printable(d.Tool, 80) + "”"
		switch {
		case d.Tool == "":
			f.Message, f.Phase = "the server's instructions changed", finding.PhaseHandshake
		case d.Kind == wire.Appeared:
			f.Message, f.Severity = what+" is new", finding.Medium
		case d.Kind == wire.Disappeared:
			f.Message, f.Severity = what+" is missing", finding.Low
		default:
			f.Message = what + " changed: " + strings.Join(d.Members, ", ")
		}
		if d.Values {
			f.Severity = finding.Low
		}
		f.Message += " since " + text.Printable(d.From, 200)
		if d.More != "" {
			f.Severity = finding.High
			f.Message += " (" + d.More + ")"
		}
		fact := d.Fact
		if fact.Text == "" {
			fact.Text = f.Message
		}
		f.Evidence = facts([]Fact{fact})
		out = append(out, f)
	}
	return first(out)
}
