package analyze

import (
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

func TestAdd(t *testing.T) {
	first := &Result{Verdict: Clean, Findings: []finding.Finding{{Rule: "CM207", Severity: finding.Low, Fingerprint: "a"}},
		Observed: []finding.Effect{{Kind: finding.Exec, Target: "/bin/a"}}}
	more := &Result{Inconclusive: []string{"it hung"}, Coverage: Coverage{Opaque: 1, Lost: 2},
		Findings: []finding.Finding{
			{Rule: "CM207", Severity: finding.Low, Fingerprint: "a"},
			{Rule: "CM103", Severity: finding.High, Fingerprint: "b", Evidence: []finding.Evidence{{Text: "sent"}}}},
		Observed: []finding.Effect{{Kind: finding.Exec, Target: "/bin/a"}, {Kind: finding.Exec, Target: "/bin/b"}}}
	Add(first, more, "later", Options{})
	if len(first.Findings) != 2 || first.Findings[0].Rule != "CM103" || first.Findings[0].Evidence[0].Text != "later: sent" || more.Findings[1].Evidence[0].Text != "sent" {
		t.Errorf("findings %+v", first.Findings)
	}
	if first.Verdict != Findings || len(first.Inconclusive) != 1 || first.Inconclusive[0] != "later: it hung" ||
		len(first.Observed) != 2 || first.Coverage.Opaque != 1 || first.Coverage.Lost != 2 {
		t.Errorf("%+v", first)
	}
}

func TestDoubt(t *testing.T) {
	res := &Result{Verdict: Clean}
	for range 2 {
		Doubt(res, "it could not be started again: \x1b[31mgone", Options{})
	}
	if res.Verdict != Inconclusive || len(res.Inconclusive) != 1 || res.Inconclusive[0] != `it could not be started again: \u{1B}[31mgone` {
		t.Errorf("%s %q", res.Verdict, res.Inconclusive)
	}
}
