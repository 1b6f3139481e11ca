package analyze_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
)

// before is the fingerprint that version 1 gave the finding of redeclaring.
const before = "3937c25ceddc75b720d09ba6e9f90921"

// redeclaring is a run whose second listing gives the one tool another text.
func redeclaring(t *testing.T) *analyzetest.Log {
	l := analyzetest.New(t, nil)
	l.Begin(quiet)
	l.Call("do", `{}`, nil, nil)
	l.Phase(finding.PhaseList)
	l.List(`{"name":"do","description":"Another."}`)
	l.End()
	return l
}

func TestThePreviousFingerprintIsTheFinding(t *testing.T) {
	l := redeclaring(t)
	res := l.Judge(analyze.Options{})
	if len(res.Findings) != 1 || res.Findings[0].Fingerprint == before || !res.Shows(before) || !res.Shows(res.Findings[0].Fingerprint) || res.Shows("another") {
		t.Fatalf("%+v", res.Findings)
	}
	for _, print := range []string{before, res.Findings[0].Fingerprint} {
		base, err := analyze.ParseBaseline("base.json", fmt.Appendf(nil, `{"schema":"coalmine/baseline/v1","findings":[{"target":%q,"fingerprint":%q,"rule":"CM501","severity":"medium","message":"m"}]}`, res.Run.Target, print))
		if err != nil {
			t.Fatal(err)
		}
		under := analyzetest.Judge(t, l.Dir(), analyze.Options{Baseline: base})
		if under.Verdict != analyze.Clean || len(under.Baseline.Known) != 1 {
			t.Errorf("a baseline with %s: %s, %+v", print, under.Verdict, under.Findings)
		}
		suppressed := &policy.Policy{File: "p", Suppress: []policy.Suppression{{Fingerprint: print, Reason: "ours", Owner: "dana", Expires: res.Run.Started.Add(24 * time.Hour)}}}
		under = analyzetest.Judge(t, l.Dir(), analyze.Options{Policy: suppressed})
		if under.Verdict != analyze.Clean || len(under.Policy.Accepted) != 1 || len(under.Policy.Accepted[0].PreviousFingerprints) != 1 {
			t.Errorf("a suppression of %s: %s, %+v", print, under.Verdict, under.Policy)
		}
	}
	// The next baseline names the finding as this version does, also where an earlier one knew it.
	base := baselineOf(t, written(t, res))
	under := analyzetest.Judge(t, l.Dir(), analyze.Options{Baseline: base})
	if again := analyzetest.Judge(t, l.Dir(), analyze.Options{Baseline: baselineOf(t, written(t, under))}); again.Verdict != analyze.Clean {
		t.Errorf("%s, %+v", again.Verdict, again.Findings)
	}
}
