package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm422 = Rule{Rule: cm422Doc, Check: detected(cm422Doc.ID), Observations: []string{"contradicting_result"}}

var cm422Doc = finding.Rule{
	ID: "CM422", Name: "ContradictingResult", Title: "Structured content contradicts the text", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "A person approves what the text says, and a program does what the structured content says.", Fix: "Make the text from the structured content.", Preview: true},
	CWE:    []string{"CWE-451", "CWE-345"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "The MCP specification wants a result with `structuredContent` to say the same in its text. This result names another account, wallet, address, host, file, digest or number in the one than in the other, or its text is JSON that has another value under the same key. " +
		"Values that name somebody or something and amounts are high, other values medium.\n\n" +
		"**Evidence.** The result, and the key in the structured content. Long numbers are shown by their ends. A text that says less, rounds, cuts, masks or formats otherwise is quiet, and so are times, and what the call itself gave.\n\n" +
		"**False positive when** the text and the structured content speak of two different things under one name.",
}
