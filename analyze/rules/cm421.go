package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

var cm421 = Rule{Rule: cm421Doc, Check: checkCM421, Shrink: ShrinkNever}

var cm421Doc = finding.Rule{
	ID: "CM421", Name: "TextJudgedAnOrder", Title: "Prompt injection reported by the text judge", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Your own text judge found an instruction to the model.", Fix: "Review the text and remove the instruction.", Preview: true},
	CWE:    []string{"CWE-94", "CWE-1427"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "The user's own program (`--text-judge`) read what the server said and classified a text as an instruction to the model.\n\n" +
		"**Evidence.** The text's beginning, its frame, and the program's reason, as `texts.json` keeps them.\n\n" +
		"**False positive when** that program errs: coalmine does not look at its reasons.",
}

// JudgedText is a text that the user's own program called an order; its Text is how the
// text begins.
type JudgedText struct {
	Fact
	Where, Why string
}

func checkCM421(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, j := range r.Judged {
		whose := "the server"
		if j.Tool != "" {
			whose = "“" + text.Printable(j.Tool, 80) + "”"
		}
		fact := j.Fact
		fact.Text = text.Printable(j.Where, 120) + ": “" + text.Printable(j.Text, 200) + "”; the text judge: " + text.Printable(j.Why, 400)
		out = append(out, finding.Finding{
			Rule: cm421Doc.ID, Severity: cm421Doc.Severity, Title: cm421Doc.Title, Confidence: finding.Probable, Tool: j.Tool, Call: j.Call,
			Message:  whose + " gives the model an instruction, according to the text judge (" + text.Printable(j.Where, 120) + ")",
			Evidence: facts([]Fact{fact}), Fingerprint: finding.Fingerprint(cm421Doc.ID, j.Tool, j.Where, j.Text),
		})
	}
	return first(out)
}
