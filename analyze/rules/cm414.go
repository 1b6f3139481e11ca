package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm414 = Rule{Rule: cm414Doc, Check: checkCM414, Observations: []string{"poisoned_result", "hidden_text_in_result", "poisoned_message", "hidden_text_in_message"}}

var cm414Doc = finding.Rule{
	ID: "CM414", Name: "TextInResult", Title: "Prompt injection or hidden text in a response", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The model follows instructions in a response, and the user does not see them.", Fix: "Return data only. Mark content of third parties, and remove invisible characters."},
	CWE:    []string{"CWE-94", "CWE-1427"}, OWASP: []string{"MCP06"},
	Help: "What the server answered (results of tools, resources, prompts and completions, errors) or sent unasked (logs, progress, requests for a model's or a user's answer, lines that are no message) instructs the model in a way that the user does not see, or holds text in characters that only a model reads. Texts, names of members and what base64 or hexadecimal digits come to are read alike. What coalmine itself had sent is quiet. In a probe, where nobody else wrote anything, an order is high; within quotation marks it is low where the tool or the server declares to quote attacks as examples.\n\n**Evidence.** The words, or the code points.\n\n" +
		"**False positive when** the server passed on what somebody else wrote about such attacks; it is the user's content that is then to be mistrusted.",
}

func checkCM414(r *Run) []finding.Finding {
	return first(r.detections(cm414Doc.ID, func(d *Detected) bool {
		switch {
		case d.Order && d.Quoted && r.quotesAttacks(d.Tool):
			d.Severity = finding.Low
		case d.Order:
			d.Severity = finding.High // no user and no host wrote it: it is the server's own
		}
		return true
	}))
}

// The words of a sentence that declares to show attacks as examples.
var (
	quoteWords  = lazyregexp.New(`(?i)\b(?:quot(?:e|es|ed|ing)|examples?|samples?|specimens?)\b`)
	attackWords = lazyregexp.New(`(?i)\b(?:attack(?:s|ers?)?|injections?|phishing|jailbreaks?|scams?|malicious|adversarial)\b`)
)

// quotesAttacks reports whether the tool, or the server, declares to quote attacks.
func (r *Run) quotesAttacks(tool string) bool {
	return slices.ContainsFunc(r.sentences(), func(s sentence) bool {
		return (s.owner.Name == tool || s.owner.Kind == detect.OwnerServer) && !s.denies && quoteWords.MatchString(s.text) && attackWords.MatchString(s.text)
	})
}
