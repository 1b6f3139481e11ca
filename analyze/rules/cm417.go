package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm417 = Rule{Rule: cm417Doc, Judges: Analysis, Observations: []string{"detector_error", "analysis_limit"}}

var cm417Doc = finding.Rule{
	ID: "CM417", Name: "AnalysisIncomplete", Title: "Incomplete analysis", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Findings may be missing.", Fix: "Run with fewer calls, or report the failed detector."},
	OWASP:  []string{"MCP08"},
	Help: "A detector failed on a frame (`detector_error`, medium), or the analysis reached a limit (`analysis_limit`, low). The other detectors continued.\n\n**Evidence.** The detector or the bound.\n\n" +
		"**False positive when** never; it says what was not looked at.",
}
