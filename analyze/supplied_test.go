package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The variables that a start with made-up values is given are those of which refusals say that a
// credential stands in them.
func TestCredentialVariables(t *testing.T) {
	got := credentialVariables(map[string][]refusal{
		"b": {{text: "no token: set VERCEL_TOKEN or run vercel login (/home/x/auth.json)"}, {text: "VERCEL_TOKEN is missing"}},
		"a": {{text: "Error:\nSEARCH_API_KEY and SEARCH_SECRET are not set"}},
		"c": {{text: "NOTES_DIR is not set"}, {text: "the token is not given"}, {text: "a KEY_LIKE word, and nothing is lacking"}},
	})
	if strings.Join(got, ",") != "SEARCH_API_KEY,SEARCH_SECRET,VERCEL_TOKEN" {
		t.Errorf("%q", got)
	}
}

// What answers once it has a made-up credential was looked at; what still refuses was not.
func TestCoverSupplied(t *testing.T) {
	tool := func(name string, ok int) ToolCoverage {
		return ToolCoverage{Name: name, What: "tool", Calls: 3, OK: ok}
	}
	gaps := func(names ...string) (out []session.Gap) {
		for _, n := range names {
			out = append(out, ofTool(session.GapToolOnlyErrors, n, "x"), ofTool(session.GapCredentialMissing, n, "y"))
		}
		return out
	}
	needs := []Need{{What: NeedCredential, Tool: "a", Said: "A"}, {What: NeedCredential, Tool: "b", Tools: []string{"b", "c"}, Said: "B"}}
	res := &Result{Gaps: gaps("a", "b", "c"), Coverage: Coverage{Tools: []ToolCoverage{tool("a", 0), tool("b", 0), tool("c", 0), tool("d", 1)}, Needs: needs}}
	lost := session.Gap{Code: session.GapRecordsLost, Text: "lost"}
	more := &Result{Gaps: append(gaps("c", "d"), lost), Coverage: Coverage{Tools: []ToolCoverage{tool("a", 2), tool("b", 1), tool("c", 0), tool("d", 0)}}}
	coverSupplied(res, more)
	var left []string
	for _, g := range res.Gaps {
		left = append(left, string(g.Code)+" "+g.Tool)
	}
	if strings.Join(left, ", ") != "credential-missing b, tool-only-errors c, credential-missing c" {
		t.Errorf("left: %q", left)
	}
	if !res.Coverage.Needs[0].Supplied || res.Coverage.Needs[1].Supplied {
		t.Errorf("%+v", res.Coverage.Needs)
	}
	for _, g := range more.Gaps {
		if g.Tool != "d" && g.Code != session.GapRecordsLost || g.Code == session.GapToolOnlyErrors {
			t.Errorf("the further start still has %+v", g)
		}
	}
	if r := reachOf(&res.Coverage); r == nil || !slices.Equal(r.MadeUp, []string{"a"}) || r.LookedAt != 3 {
		t.Errorf("%+v", r)
	}
}

// A package that is not there is no program of that sentence's verb.
func TestAVerbIsNoProgram(t *testing.T) {
	for line, want := range map[string]string{"package 'notes' is not installed": "", "pandoc is not installed": "pandoc", "“x” are not installed": ""} {
		got := ""
		if n := needOf(line); n != nil && n.What == NeedProgram {
			got = strings.Join(n.Names, " ")
		}
		if got != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
}

// The tools that a gap counts without naming them are looked at, too, once they answer in a further start.
func TestCountedToolsAnswer(t *testing.T) {
	coverage := func(ok ...int) (c Coverage) {
		for i, n := range ok {
			c.Tools = append(c.Tools, ToolCoverage{Name: string(rune('a' + i)), What: "tool", Calls: 3, OK: n})
		}
		return c
	}
	named, more := ofTool(session.GapToolOnlyErrors, "a", "x"), session.Gap{Code: session.GapToolOnlyErrors, Text: "2 more tools answered every call with an error"}
	for want, ok := range map[string][]int{
		"": {1, 1, 1},
		"1 more tool answered every call with an error":              {1, 0, 1},
		"tool “a” x; 1 more tool answered every call with an error":  {0, 1, 0},
		"tool “a” x; 2 more tools answered every call with an error": {0, 0, 0},
	} {
		res := &Result{Gaps: []session.Gap{named, more}, Coverage: coverage(0, 0, 0)}
		further := &Result{Gaps: []session.Gap{more}, Coverage: coverage(ok...)}
		coverSupplied(res, further)
		if got := strings.Join(session.Texts(res.Gaps), "; "); got != want {
			t.Errorf("%v: %q, want %q", ok, got, want)
		}
		// A further start in which none of them answers adds nothing where all did before.
		again := &Result{Gaps: []session.Gap{more}, Coverage: coverage(0, 0, 0)}
		if answered(res, again); (len(again.Gaps) == 0) != (want == "") {
			t.Errorf("%v: %+v", ok, again.Gaps)
		}
	}
}

// A need of several tools is settled once each of them answered.
func TestNeedsOfAFurtherStart(t *testing.T) {
	needs := []Need{{What: NeedService, Tool: "a", Tools: []string{"a", "b"}}}
	gap := session.Gap{Code: session.GapServiceMissing, Tool: "a", Text: "x"}
	for ok, want := range map[int]int{0: 1, 1: 0} {
		res := &Result{Coverage: Coverage{Tools: []ToolCoverage{{Name: "a", What: "tool", Calls: 1, OK: 1}, {Name: "b", What: "tool", Calls: 1, OK: ok}}}}
		more := &Result{Gaps: []session.Gap{gap}, Coverage: Coverage{Needs: needs}}
		if answered(res, more); len(more.Gaps) != want {
			t.Errorf("%d: %+v", ok, more.Gaps)
		}
	}
}

// A server that ends where the sinkhole stands in for its database has no fault.
func TestACrashBesideAStandIn(t *testing.T) {
	more := &Result{Findings: []finding.Finding{{Rule: "CM601", Severity: finding.Medium}, {Rule: "CM101", Severity: finding.High}}}
	noCrash(more)
	if more.Findings[0].Severity != finding.Info || more.Findings[1].Severity != finding.High {
		t.Errorf("%+v", more.Findings)
	}
}
