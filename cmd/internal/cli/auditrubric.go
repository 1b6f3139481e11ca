package cli

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
)

// rubric prints how an audit scores, and what its JSON holds.
func (e *env) rubric() {
	fmt.Fprintf(e.out, "%s: 100 points, each rule deducts once, by its worst finding:", audit.RubricVersion)
	for i, s := range []finding.Severity{finding.Critical, finding.High, finding.Medium, finding.Low} {
		fmt.Fprintf(e.out, "%s %s %d", comma(i), s, audit.Points(s))
	}
	fmt.Fprint(e.out, "\ngrades:")
	for i, t := range audit.Grades() {
		fmt.Fprintf(e.out, "%s %s from %d", comma(i), t.Grade, t.Points)
	}
	fmt.Fprintf(e.out, "\nof the code's bytes parsed: below %d%% no score, below %d%% no A\n", audit.EnoughRead, audit.AlmostAll)
	e.rubricRules("rules that cost points, with the severity at worst", false)
	e.rubricRules("rules that cost nothing", true)
	fmt.Fprintln(e.out, "\nfields of --json")
	for _, f := range audit.Fields() {
		fmt.Fprintln(e.out, "  "+f)
	}
}

func (e *env) rubricRules(head string, free bool) {
	fmt.Fprintln(e.out, "\n"+head)
	for _, r := range audit.Rules() {
		if audit.IsFree(r.ID) != free {
			continue
		}
		cwe := strings.Join(r.CWE, " ")
		if cwe == "" {
			cwe = "-"
		}
		fmt.Fprintf(e.out, "  %-22s %-8s %-8s %s\n", r.ID, r.Severity, cwe, r.Title)
	}
}

// comma stands before each but the first of a list.
func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}
