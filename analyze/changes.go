package analyze

import (
	"fmt"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// Changes says in lines how a judgement differs from an earlier one of the same runs:
// "+" for what is new, "-" for what is gone, "~" for what is weighed otherwise. The
// lines hold texts of the reports, which a server has a say in.
func Changes(before, now *Result) []string {
	var out []string
	if before.Verdict != now.Verdict {
		out = append(out, fmt.Sprintf("~ verdict: %s, was %s", now.Verdict, before.Verdict))
	}
	was := map[string]*finding.Finding{}
	old := before.All()
	for i := range old {
		was[old[i].Fingerprint] = &old[i]
	}
	is := map[string]bool{}
	all := now.All()
	for i := range all {
		f := &all[i]
		is[f.Fingerprint] = true
		o, ok := was[f.Fingerprint]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("+ %s %s: %s", f.Rule, f.Severity, f.Message))
		case o.Severity != f.Severity:
			out = append(out, fmt.Sprintf("~ %s %s, was %s: %s", f.Rule, f.Severity, o.Severity, f.Message))
		}
	}
	for i := range old {
		if f := &old[i]; !is[f.Fingerprint] {
			out = append(out, fmt.Sprintf("- %s %s: %s", f.Rule, f.Severity, f.Message))
		}
	}
	return append(out, reasons(before.Inconclusive, now.Inconclusive)...)
}

// reasons are the reasons for doubt that came and went.
func reasons(before, now []string) []string {
	var out []string
	was, is := map[string]bool{}, map[string]bool{}
	for _, r := range before {
		was[r] = true
	}
	for _, r := range now {
		is[r] = true
		if !was[r] {
			out = append(out, "+ inconclusive: "+r)
		}
	}
	for _, r := range before {
		if !is[r] {
			out = append(out, "- inconclusive: "+r)
		}
	}
	return out
}
