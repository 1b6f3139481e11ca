package rules

import (
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm427 = Rule{Rule: cm427Doc, Check: checkCM427, Observations: []string{"likely_poisoning", "likely_poisoned_answer"}, Shrink: ShrinkNever}

var cm427Doc = finding.Rule{
	ID: "CM427", Name: "LikelyInjection", Title: "Text that reads like prompt injection", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "A text that the model reads is worded like an instruction that the user is not to notice.", Fix: "Describe only the tool. Remove instructions about other tools, secrets, recipients or the user.", Preview: true},
	CWE:    []string{"CWE-94", "CWE-1427"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "A statistical classifier reads each text that a model sees: declarations, and in a probe also results, errors and messages. It was trained with instructions to take secrets, to hide something from the user, to change a recipient, to act without consent, to use other tools or to obey other texts, in 30 languages, and with texts of public servers. It finds wordings that CM401 and CM414 do not know. It reads words and not meaning. In the answers of a tool that reached a host, read the user's files or ran a program that it declares the words may be theirs: low. So are those of a tool that declares to quote attacks as examples.\n\n" +
		"**Evidence.** The sentences, one to three, that read most like an instruction, in their frame. `analyze/text/classifier/README.md` has its figures on texts that it had not seen.\n\n" +
		"**False positive when** the sentences only describe what the tool itself does at the user's wish. Read them: they are few.",
}

func checkCM427(r *Run) []finding.Finding {
	return first(r.detections(cm427Doc.ID, func(d *Detected) bool {
		if r.quotesAttacks(d.Tool) || d.Declared == nil && (r.passesOn(d.Tool) || r.passesOnOutput(d.Tool)) {
			d.Severity = finding.Low
		}
		return true
	}))
}

// passesOnOutput reports whether a tool ran a program that it declares: what it answers may be that program's.
func (r *Run) passesOnOutput(tool string) bool {
	t := r.Scope.Tool(tool)
	return slices.ContainsFunc(r.Profile.Effects, func(e finding.Effect) bool {
		return e.Kind == finding.Exec && e.Tool == tool && e.Rung == finding.RungOpened && r.declaresProgram(&t, path.Base(e.Target))
	})
}
