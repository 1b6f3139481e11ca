package analyze_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A server that crashes has crashed: it is no failure of the tracer.
func TestACrashIsTheServers(t *testing.T) {
	for _, ending := range []session.EventExit{{Code: 139, Signal: "SIGSEGV"}, {Code: 137, Signal: "SIGKILL"}, {Code: 1}} {
		l := analyzetest.New(t, nil)
		l.Begin(quiet)
		l.CallEnding("do", `{}`, "crash", func() { l.Event(ending) }, nil)
		res := l.Judge(analyze.Options{})
		if !slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM601" && f.Tool == "do" }) {
			t.Errorf("%v: found %q", ending, found(res))
		}
		if slices.ContainsFunc(res.Gaps, func(g session.Gap) bool {
			return g.Code != session.GapServerEnded && g.Code != session.GapToolOnlyErrors
		}) {
			t.Errorf("%v: it is laid to something else: %+v", ending, res.Gaps)
		}
	}
}

// A word that holds another, or names a place to connect to, claims nothing: the
// same connection weighs the same. A claim to be local weighs more.
func TestLocalIsAClaimNotASubstring(t *testing.T) {
	egress := func(description string) string {
		l := analyzetest.New(t, nil)
		tool := fmt.Sprintf(`{"name":"do","description":%q}`, description)
		l.Begin(tool)
		l.Call("do", `{}`, func() { l.Connect("93.184.216.34", 443, "ENETUNREACH") }, nil)
		l.End()
		return found(l.Judge(analyze.Options{}))
	}
	plain := egress("Fetches the news.")
	for _, description := range []string{"Fetches the news with localization.", "Fetches the news by a proxy on localhost.", "Fetches the localized news, no networks of friends."} {
		if got := egress(description); got != plain {
			t.Errorf("%s: %q, want %q", description, got, plain)
		}
	}
	if claim := egress("Formats text locally, without any network access."); claim == plain {
		t.Errorf("a claim weighs nothing: %q", claim)
	}
}
