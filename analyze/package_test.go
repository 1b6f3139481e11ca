package analyze_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// built is the log of a build in which work happens.
func built(t *testing.T, work func(*analyzetest.Log)) *analyze.Result {
	l := analyzetest.New(t, func(h *session.Header) { h.Phase = session.PhaseBuild })
	l.Phase(finding.PhaseBuild)
	l.Event(session.EventStarted{Task: analyzetest.Target})
	if work != nil {
		work(l)
	}
	l.Event(session.EventExit{Code: 1})
	l.Event(session.EventOutlived{})
	l.Event(session.EventDone{})
	return l.Judge(analyze.Options{})
}

func TestABuildIsJudgedAsABuild(t *testing.T) {
	if res := built(t, nil); res.Verdict != analyze.Clean || len(res.Findings) > 0 || len(res.Coverage.Unreached) > 0 {
		t.Errorf("%s %q %v: a build that ends is no server that crashes", res.Verdict, res.Inconclusive, found(res))
	}
	res := built(t, func(l *analyzetest.Log) {
		l.Read(sshKey)
		l.Connect("93.184.216.34", 443, "")
		l.Open(home+"/.bashrc", "O_WRONLY|O_CREAT", "")
	})
	if got, want := found(res), "CM101 high, CM108 high, CM212 high, CM205 low"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, f := range res.Findings {
		if f.Phase != finding.PhaseBuild || !strings.Contains(f.Message, "the build of the package") {
			t.Errorf("%s in phase %s: %s", f.Rule, f.Phase, f.Message)
		}
	}
	res = built(t, func(l *analyzetest.Log) { l.Event(session.EventLoss{N: 3, Reason: "overrun"}) })
	if res.Verdict != analyze.Inconclusive {
		t.Errorf("a build of which something was lost is %s", res.Verdict)
	}
}

func TestWhatWasBuiltIsPartOfTheCoverage(t *testing.T) {
	run := func(state, bin string) *analyze.Result {
		l := analyzetest.New(t, func(h *session.Header) {
			h.Package = &session.Package{Kind: "npm", Name: "notes", Version: "1.0.0", Bin: bin, Again: []string{"npm:notes@1.0.0", "a b"}, Build: session.Build{State: state, Why: "it was left out"}}
		})
		l.Begin(quiet)
		l.Call("do", "{}", nil, nil)
		l.End()
		return l.Judge(analyze.Options{})
	}
	for state, want := range map[string]struct {
		verdict   analyze.Verdict
		first     []finding.Phase
		unreached []finding.Phase
	}{
		session.BuildNone:    {analyze.Clean, []finding.Phase{"fetch", "start"}, nil},
		session.BuildDone:    {analyze.Clean, []finding.Phase{"fetch", "build"}, nil},
		session.BuildFailed:  {analyze.Inconclusive, []finding.Phase{"fetch", "build"}, nil},
		session.BuildSkipped: {analyze.Inconclusive, []finding.Phase{"fetch", "start"}, []finding.Phase{"build"}},
	} {
		res := run(state, "")
		if res.Verdict != want.verdict || !slices.Equal(res.Coverage.Phases[:2], want.first) || !slices.Equal(res.Coverage.Unreached, want.unreached) {
			t.Errorf("%s: %s %q, phases %v, unreached %v", state, res.Verdict, res.Inconclusive, res.Coverage.Phases, res.Coverage.Unreached)
		}
	}
	if got := run(session.BuildNone, "other").Run.Reproduce; !strings.Contains(got, " --bin other ") || !strings.HasSuffix(got, " -- npm:notes@1.0.0 'a b'") {
		t.Errorf("again: %s", got)
	}
}

// A package's name is a declaration where the server ended before it gave one: the user chose it.
func TestAPackagesNameStandsForASilentServer(t *testing.T) {
	for name, want := range map[string]string{"ssh-tools": "CM101 info", "@notes/ssh-agent": "CM101 info", "notes": "CM101 high"} {
		l := analyzetest.New(t, func(h *session.Header) { h.Package = &session.Package{Kind: "npm", Name: name, Version: "1.0.0"} })
		l.Phase(finding.PhaseStart)
		l.Read(sshKey)
		l.End()
		if got := found(l.Judge(analyze.Options{})); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestABuildIsAddedToItsServersRun(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(quiet)
	l.Call("do", "{}", nil, nil)
	l.End()
	res := l.Judge(analyze.Options{})
	analyze.Add(res, built(t, func(l *analyzetest.Log) { l.Read(sshKey) }), "in the build", analyze.Options{})
	if got := found(res); got != "CM101 high" || res.Verdict != analyze.Findings || !strings.HasPrefix(res.Findings[0].Evidence[0].Text, "in the build: ") {
		t.Errorf("%s, %s", got, res.Verdict)
	}
	if !slices.ContainsFunc(res.Observed, func(e finding.Effect) bool { return e.Phase == finding.PhaseBuild }) {
		t.Error("nothing of the build is observed")
	}
}
