package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm502 = Rule{Rule: cm502Doc, Check: checkCM502, Judges: Change}

var cm502Doc = finding.Rule{
	ID: "CM502", Name: "JudgedByChanged", Title: "Policy or baseline changed by the pull request", Severity: finding.Medium, Family: finding.FamilyDrift,
	Advice: finding.Advice{Why: "A pull request that changes its own policy could approve itself.", Fix: "Review the policy change, and merge it separately."},
	CWE:    []string{"CWE-693"}, OWASP: []string{"MCP08"},
	Help: "With `--changed-since`, coalmine takes the policy, its suppressions and the baseline from the merge base, so that a change cannot approve itself. The pull request changes one of them, and its reviewer decides about that too.\n\n" +
		"**Evidence.** The file's first line that differs.\n\n" +
		"**False positive when** the new policy or baseline is what the review is about.",
}

// Changed is a file by which a run would be judged and that the change under
// review has otherwise.
type Changed struct {
	// What is "policy", "baseline" or "replies".
	What string
	// At is its first line that differs.
	At finding.Location
	// Removed says that it is no longer there, Added that it was not.
	Removed, Added bool
}

func checkCM502(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, c := range r.Changed {
		how := "changes the " + c.What + "; coalmine uses the one of the merge base"
		switch {
		case c.Removed:
			how = "removes the " + c.What + "; coalmine uses the one of the merge base"
		case c.Added:
			how = "adds a " + c.What + "; coalmine uses none, like the merge base"
		}
		at := c.At
		out = append(out, finding.Finding{
			Rule: cm502Doc.ID, Severity: cm502Doc.Severity, Title: cm502Doc.Title, Confidence: finding.Certain,
			Message:     "the pull request " + how + " (" + c.At.Path + ")",
			Evidence:    []finding.Evidence{{Source: "source", Text: "first line that differs", Location: &at}},
			Location:    &at,
			Fingerprint: finding.Fingerprint("CM502", c.What, c.At.Path),
		})
	}
	return out
}
