package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm402 = Rule{Rule: cm402Doc, Check: checkCM402, Observations: []string{"hidden_text"}}

var cm402Doc = finding.Rule{
	ID: "CM402", Name: "HiddenText", Title: "Hidden characters in a declaration", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The model reads text that a reviewer cannot see.", Fix: "Remove invisible and reordering characters from declarations."},
	CWE:    []string{"CWE-451", "CWE-116"}, OWASP: []string{"MCP03"},
	Help: "A member of a declaration contains characters that a reader cannot see or that reorder the displayed text: tag characters, zero-width runs, bidirectional overrides or terminal escapes. All listings of the run count.\n\n" +
		"**Evidence.** The characters' code points and their place.\n\n" +
		"**False positive when** a language needs a joiner at that place; single joiners between letters are quiet.",
}

func checkCM402(r *Run) []finding.Finding {
	return r.declared(&cm402Doc, "unicode-hidden", "contains characters that a reader cannot see")
}
