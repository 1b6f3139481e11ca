package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm603 = Rule{Rule: cm603Doc, Check: checkCM603, Shrink: ShrinkFresh}

var cm603Doc = finding.Rule{
	ID: "CM603", Name: "LimitReached", Title: "Sandbox limit reached", Severity: finding.Medium, Family: finding.FamilyRobustness,
	Advice: finding.Advice{Why: "One call can exhaust the user's machine.", Fix: "Limit the memory, output and processes that one call can use."},
	CWE:    []string{"CWE-400", "CWE-770"}, OWASP: []string{"MCP02"},
	Help: "The server used more memory, processes, output, disk or processor time than the sandbox allows. The sandbox then ended it, except for a full disk.\n\n" +
		"**Evidence.** The limit and the moment.\n\n" +
		"**False positive when** the work asked for needs that much; limits can be raised.",
}

func checkCM603(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, l := range r.End.Limits {
		if strings.HasPrefix(l, "wall:") { // the time of a run is coalmine's
			continue
		}
		out = append(out, finding.Finding{
			Rule: cm603Doc.ID, Severity: cm603Doc.Severity, Title: cm603Doc.Title, Confidence: finding.Certain,
			Message:     "the server reached a limit: " + l,
			Evidence:    facts([]Fact{{Time: r.End.Time, Text: l}}),
			Fingerprint: finding.Fingerprint("CM603", l),
		})
	}
	return first(out)
}
