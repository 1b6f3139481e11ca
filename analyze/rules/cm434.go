package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm434 = Rule{Rule: cm434Doc, Check: checkCM434, Observations: []string{"reworded"}}

var cm434Doc = finding.Rule{
	ID: "CM434", Name: "ChangedWording", Title: "Meaning of a text changed in a result", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Whoever uses the result signs, sends or follows the opposite of what was written.", Fix: "Give back the text as it was given.", Preview: true},
	CWE:    []string{"CWE-345", "CWE-451"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "A tool gave a long text back nearly word for word, but at least two of its sentences lost their negation (\"shall not be liable\" became \"shall be liable\") or have another number that the call did not give (\"30 days\" became \"60 days\"). " +
		"It is high where the tool or the server promises that the wording stays. Without such a promise a lost negation is medium, and a changed number is quiet, for tools convert and round.\n\n" +
		"**Evidence.** A sentence before and after, in the frame of the result.\n\n" +
		"**False positive when** the tool is asked to change the meaning, as one that turns statements into their opposite.",
}

// keepsWording is a promise that a text's words or values stay as they are.
var keepsWording = lazyregexp.New(`(?i)\bnothing(?: else)?\b[^.!?\n]{0,60}\b` + changing + `\b` +
	`|\b` + wordingOf + `\b[^.!?\n]{0,60}\b(?:never|not|\w+n['’]t)\b[^.!?\n]{0,30}\b` + changing + `\b` +
	`|\b(?:never|not|\w+n['’]t|without)\b[^.!?\n]{0,30}\b` + changing + `\b[^.!?\n]{0,40}\b` + wordingOf + `\b` +
	`|\b(?:stays?|remains?|kept|keeps?|leaves?|left)\b[^.!?\n]{0,60}\b(?:as (?:it|they) (?:is|are|was|were|stands?|stood)|unchanged|untouched|intact|verbatim|word for word|the same)\b|\b(?:verbatim|word for word)\b`)

const (
	wordingOf = `(?:wording|words?|texts?|contents?|meaning|sentences?|clauses?|everything else|the rest|values?|numbers?|figures?)`
	changing  = `(?:chang\w+|alter\w*|touch\w*|modif\w+|edit\w*|rewrit\w+|reword\w*|lost)`
)

func checkCM434(r *Run) []finding.Finding {
	return first(r.detections(cm434Doc.ID, func(d *Detected) bool {
		switch {
		case r.promises(keepsWording, serverOr(d.Tool)):
			d.Severity = finding.High
		case d.Severity == finding.High:
			d.Severity = finding.Medium
		default:
			return false // a number alone
		}
		return true
	}))
}
