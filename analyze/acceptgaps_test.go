package analyze_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// refusing is a run of n tools of which all but the first refuse every call.
func refusing(t *testing.T, n int, said string) *analyzetest.Log {
	l := analyzetest.New(t, nil)
	var tools []string
	for i := range n {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":"Works offline."}`, i))
	}
	l.Begin(tools...)
	for i := range n {
		name := fmt.Sprintf("tool_%d", i)
		if i == 0 {
			l.Call(name, `{}`, nil, nil)
			continue
		}
		l.CallFails(name, `{}`, said)
	}
	l.End()
	return l
}

func TestGapsThatAreAccepted(t *testing.T) {
	t.Parallel()
	l := refusing(t, 9, "no such record")
	res := l.Judge(analyze.Options{Least: true})
	if res.Verdict != analyze.Inconclusive {
		t.Fatalf("%s: %v", res.Verdict, res.Inconclusive)
	}
	p := parse(t, string(res.Least.Marshal()))
	if len(p.AcceptGaps) != 8 {
		t.Fatalf("%d gaps are proposed: %+v", len(p.AcceptGaps), p.AcceptGaps)
	}
	under := l.Judge(analyze.Options{Policy: p})
	if under.Verdict != analyze.Clean || len(under.Policy.Gaps) != 8 || under.Policy.Gaps[0].Reason == "" {
		t.Errorf("%s: %v, accepted %v", under.Verdict, under.Inconclusive, under.Policy.Gaps)
	}
	// Another tool that refuses is new, however many are accepted.
	p.AcceptGaps = slices.DeleteFunc(p.AcceptGaps, func(a policy.GapAcceptance) bool { return a.Tool == "tool_7" })
	under = l.Judge(analyze.Options{Policy: p})
	if under.Verdict != analyze.Inconclusive || len(under.Gaps) != 1 || under.Gaps[0].Tool != "tool_7" {
		t.Errorf("%s: %v", under.Verdict, under.Inconclusive)
	}
	// What has expired counts again, and says so.
	for i := range p.AcceptGaps {
		p.AcceptGaps[i].Expires = p.AcceptGaps[i].Expires.AddDate(-9, 0, 0)
	}
	under = l.Judge(analyze.Options{Policy: p})
	if under.Verdict != analyze.Inconclusive || !strings.Contains(strings.Join(under.Inconclusive, " "), "its acceptance expired on ") {
		t.Errorf("%s: %v", under.Verdict, under.Inconclusive)
	}
}

func TestWhatWasNotRecordedIsNotAccepted(t *testing.T) {
	t.Parallel()
	for _, code := range []session.Code{session.GapNotTraced, session.GapCutOff, session.GapHandshakeFailed, session.GapToolOnlyErrors, session.GapCodeNotRun, "unheard-of"} {
		if code.Acceptable("") == nil {
			t.Errorf("%s can be accepted for the whole run", code)
		}
	}
	if err := session.GapToolOnlyErrors.Acceptable("upload"); err != nil {
		t.Error(err)
	}
}

func TestReachTellsToolsApart(t *testing.T) {
	t.Parallel()
	res := refusing(t, 3, "Error: UPLOAD_API_KEY is not set").Judge(analyze.Options{})
	r := res.Coverage.Reach
	if r == nil || r.LookedAt != 1 || r.Tools != 3 || len(r.Needing) != 2 || r.Refusing != nil {
		t.Errorf("%+v, needs %+v", r, res.Coverage.Needs)
	}
	res = refusing(t, 2, "no such record").Judge(analyze.Options{})
	if r := res.Coverage.Reach; r == nil || !slices.Equal(r.Refusing, []string{"tool_1"}) {
		t.Errorf("%+v", r)
	}
}
