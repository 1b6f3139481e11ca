package analyze

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestAdd(t *testing.T) {
	first := &Result{Verdict: Clean, Findings: []finding.Finding{{Rule: "CM207", Severity: finding.Low, Fingerprint: "a"}},
		Observed: []finding.Effect{{Kind: finding.Exec, Target: "/bin/a"}}}
	more := &Result{Gaps: []session.Gap{{Code: session.GapNotListed, Tool: "a", Text: "it hung"}}, Coverage: Coverage{Opaque: 1, Lost: 2},
		Findings: []finding.Finding{
			{Rule: "CM207", Severity: finding.Low, Fingerprint: "a"},
			{Rule: "CM103", Severity: finding.High, Fingerprint: "b", Evidence: []finding.Evidence{{Text: "sent"}}}},
		Observed: []finding.Effect{{Kind: finding.Exec, Target: "/bin/a"}, {Kind: finding.Exec, Target: "/bin/b"}}}
	Add(first, more, "later", Options{})
	if len(first.Findings) != 2 || first.Findings[0].Rule != "CM103" || first.Findings[0].Evidence[0].Text != "later: sent" || more.Findings[1].Evidence[0].Text != "sent" {
		t.Errorf("findings %+v", first.Findings)
	}
	if first.Verdict != Findings || len(first.Inconclusive) != 1 || first.Inconclusive[0] != "later: it hung" || first.Gaps[0].Code != session.GapNotListed || first.Gaps[0].Tool != "a" || first.Gaps[0].Text != "later: it hung" ||
		len(first.Observed) != 2 || first.Coverage.Opaque != 1 || first.Coverage.Lost != 2 {
		t.Errorf("%+v", first)
	}
}

// TestAddKeepsTheWorse: what a further start did worse than the first one is told, and what it did less is not.
func TestAddKeepsTheWorse(t *testing.T) {
	of := func(s finding.Severity) finding.Finding {
		return finding.Finding{Rule: "CM221", Severity: s, Fingerprint: "f", Evidence: []finding.Evidence{{Source: "record", Text: "opened it"}}}
	}
	for _, c := range []struct{ first, second, want finding.Severity }{
		{finding.Low, finding.High, finding.High}, {finding.High, finding.Low, finding.High}, {finding.Low, finding.Low, finding.Low},
	} {
		res := &Result{Findings: []finding.Finding{of(c.first)}}
		Add(res, &Result{Findings: []finding.Finding{of(c.second)}}, "second start", Options{})
		if len(res.Findings) != 1 || res.Findings[0].Severity != c.want {
			t.Errorf("%s, then %s: %+v", c.first, c.second, res.Findings)
		}
	}
}

func TestDoubt(t *testing.T) {
	res := &Result{Verdict: Clean}
	for range 2 {
		Doubt(res, session.Gap{Code: session.GapFurtherStartFailed, Text: "it could not be started again: \x1b[31mgone"}, Options{})
	}
	if res.Verdict != Inconclusive || len(res.Gaps) != 1 || res.Gaps[0].Remedy == "" || len(res.Inconclusive) != 1 || res.Inconclusive[0] != `it could not be started again: \u{1B}[31mgone` {
		t.Errorf("%s %q", res.Verdict, res.Inconclusive)
	}
}

// A harmless end closes the gaps that follow from it, whatever else their texts say.
func TestGapsOfTheEnd(t *testing.T) {
	t.Parallel()
	incomplete := func(cause session.Cause, text string) session.Gap {
		m := session.Doubt(session.Gap{Code: session.GapCallsIncomplete, Cause: cause, Text: text})
		return m.Gap()
	}
	for _, g := range []session.Gap{
		{Code: session.GapServerEnded, Text: "x"},
		incomplete(session.CauseServerEnded, "not everything was called: the server ended (3 calls of the first round were not made)"),
		incomplete("", "not everything was called: the server ended (3 calls of the first round were not made)"),
		incomplete(session.CauseServerEnded, "not everything was called: the server ended (its acceptance expired on 2020-01-01)"),
	} {
		res := &Result{}
		Doubt(res, g, Options{})
		if res.dropGaps(isOfEnd); len(res.Gaps) > 0 || len(res.keeper.least) > 0 {
			t.Errorf("%+v %+v", res.Gaps, res.keeper.least)
		}
	}
	if isOfEnd(incomplete("", "the calls were not completed: the host is gone, and the server ended")) {
		t.Error("a text alone made a gap one of the end")
	}
}

func TestGapsOfOneTextDiffer(t *testing.T) {
	t.Parallel()
	res := &Result{}
	for _, g := range []session.Gap{{Code: session.GapNotListed, Text: "x"}, {Code: session.GapNotListed, Tool: "a", Text: "x"}, {Code: session.GapOther, Text: "x"}, {Code: session.GapOther, Text: "x"}} {
		Doubt(res, g, Options{})
	}
	if len(res.Gaps) != 3 || len(res.Inconclusive) != 3 {
		t.Errorf("%+v", res.Gaps)
	}
}

// A restart leaves out the tool that ended the server, and another that needs what it
// makes answers nothing there: what the first start saw of it stands.
func TestCoverKeepsWhatAnsweredBefore(t *testing.T) {
	tool := func(name string, calls, ok int) ToolCoverage {
		return ToolCoverage{Name: name, What: "tool", Calls: calls, OK: ok}
	}
	uncalled, mute, refusing := session.GapToolNeverCalled, session.GapToolNeverAnswered, session.GapToolOnlyErrors
	res := &Result{Gaps: []session.Gap{ofTool(uncalled, "c", "x")}, Coverage: Coverage{Tools: []ToolCoverage{tool("a", 3, 1), tool("b", 3, 0), tool("c", 0, 0)}}}
	kept := []session.Gap{ofTool(refusing, "b", "x"), {Code: session.GapServerEnded, Tool: "a", Text: "it hung"}, {Code: refusing, Text: "3 tools more"}}
	more := &Result{Gaps: append([]session.Gap{ofTool(refusing, "a", "x"), ofTool(mute, "a", "y"), ofTool(uncalled, "a", "z")}, kept...),
		Coverage: Coverage{Tools: []ToolCoverage{tool("a", 3, 0), tool("b", 3, 0), tool("c", 2, 2)}}}
	Cover(res, more)
	if len(res.Gaps) != 0 || len(res.Inconclusive) != 0 || res.Coverage.Tools[2].OK != 2 || res.Coverage.Tools[0].OK != 1 {
		t.Errorf("%+v", res)
	}
	if !slices.Equal(more.Gaps, kept) || !slices.Equal(more.Inconclusive, session.Texts(kept)) {
		t.Errorf("%+v", more.Gaps)
	}
}

// A tool that refused its first calls, and answered after the restart, lacked nothing.
func TestCoverTakesWhatAnsweredAfterARestart(t *testing.T) {
	tool := func(name string, ok int) ToolCoverage {
		return ToolCoverage{Name: name, What: "tool", Calls: 3, OK: ok}
	}
	res := &Result{Coverage: Coverage{Tools: []ToolCoverage{tool("a", 0), tool("b", 0)}, Needs: []Need{{What: NeedConfiguration, Tool: "a"}, {What: NeedProgram, Tool: "b"}, {What: NeedProgram}}}}
	for _, name := range []string{"a", "b"} {
		res.Gaps = append(res.Gaps, ofTool(session.GapToolOnlyErrors, name, "x"))
	}
	res.Gaps = append(res.Gaps, ofTool(session.GapConfigurationMissing, "a", "x"), ofTool(session.GapProgramMissing, "b", "x"))
	Cover(res, &Result{Coverage: Coverage{Tools: []ToolCoverage{tool("a", 2), tool("b", 0)}}})
	if len(res.Gaps) != 2 || res.Gaps[0].Tool != "b" || res.Gaps[1].Tool != "b" || len(res.Coverage.Needs) != 2 {
		t.Errorf("%+v %+v", res.Gaps, res.Coverage.Needs)
	}
}
