package analyze_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// reaching is a run whose local tool tries to reach these addresses.
func reaching(t *testing.T, target string, hosts ...string) *analyzetest.Log {
	l := analyzetest.New(t, func(h *session.Header) { h.Target = target })
	l.Begin(analyzetest.Note)
	l.Call("format_note", `{}`, func() {
		for _, h := range hosts {
			l.Connect(h, 80, "ENETUNREACH")
		}
	}, nil)
	l.End()
	return l
}

func written(t *testing.T, res *analyze.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, res); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// baselineOf writes a baseline of reports and reads it.
func baselineOf(t *testing.T, reports ...[]byte) *analyze.Baseline {
	t.Helper()
	data, err := analyze.WriteBaseline(reports)
	if err != nil {
		t.Fatal(err)
	}
	b, err := analyze.ParseBaseline("base.json", data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return b
}

func TestOnlyWhatIsNewFails(t *testing.T) {
	old := written(t, reaching(t, "notes", "93.184.216.34").Judge(analyze.Options{}))
	base := baselineOf(t, old)
	for _, c := range []struct {
		name          string
		log           *analyzetest.Log
		verdict       analyze.Verdict
		status, known int
	}{
		{"the same", reaching(t, "notes", "93.184.216.34"), analyze.Clean, 0, 1},
		{"and another", reaching(t, "notes", "93.184.216.34", "93.184.216.35"), analyze.Findings, 1, 1},
		{"none", reaching(t, "notes"), analyze.Clean, 0, 0},
		{"of another server", reaching(t, "others", "93.184.216.34"), analyze.Findings, 1, 0},
	} {
		res := c.log.Judge(analyze.Options{Baseline: base})
		if res.Verdict != c.verdict || analyze.ExitStatus(res, finding.High, false) != c.status || len(res.Baseline.Known) != c.known {
			t.Errorf("%s: %s, %+v", c.name, res.Verdict, res.Baseline)
		}
		// What was known stays known in the next baseline.
		if next := baselineOf(t, written(t, res)); c.name == "the same" {
			if again := analyzetest.Judge(t, c.log.Dir(), analyze.Options{Baseline: next}); again.Verdict != analyze.Clean {
				t.Error("a baseline made under a baseline forgets")
			}
		}
	}
	other := written(t, reaching(t, "others", "93.184.216.35").Judge(analyze.Options{}))
	one, errOne := analyze.WriteBaseline([][]byte{old, other, old})
	two, errTwo := analyze.WriteBaseline([][]byte{other, old})
	if errOne != nil || errTwo != nil || !bytes.Equal(one, two) {
		t.Errorf("%v %v\n%s\n%s", errOne, errTwo, one, two)
	}
}

func TestABadBaselineIsNone(t *testing.T) {
	for _, bad := range []string{"", "{}", "[]", `{"schema":"coalmine/baseline/v2","findings":[]}`, `{"schema":"coalmine/baseline/v1","findings":[{"fingerprint":"x"}]}`,
		`{"schema":"coalmine/baseline/v1","findings":[],"more":1}`, `{"schema":"coalmine/baseline/v1","findings":[]} {}`} {
		if b, err := analyze.ParseBaseline("b.json", []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "b.json: ") {
			t.Errorf("%s: %+v, %v", bad, b, err)
		}
	}
	if _, err := analyze.WriteBaseline([][]byte{[]byte(`{"schema":"x"}`)}); err == nil {
		t.Error("a report of no schema was taken")
	}
}

// A finding about the policy is located in it.
func TestPolicyFindingsAreLocatedInThePolicy(t *testing.T) {
	p := parse(t, "tools:\n  format_note:\n    deny:\n      hosts:\n        - 93.184.216.34\n    allow: {files: []}\n")
	res := reaching(t, "notes", "93.184.216.34").Judge(analyze.Options{
		Policy: p, Changed: []rules.Changed{{What: "policy", At: finding.Location{Path: "coalmine.yaml", Line: 6}}},
	})
	lines := map[string]int{}
	for _, f := range res.Findings {
		if f.Location != nil && f.Location.Path == "coalmine.yaml" {
			lines[f.Rule] = f.Location.Line
		}
	}
	if lines["CM208"] != 5 || lines["CM502"] != 6 {
		t.Errorf("%v in %+v", lines, res.Findings)
	}
	var b bytes.Buffer
	if err := report.SARIF(&b, res, report.SARIFOptions{Default: report.At("mcp.json")}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, r := range doc.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		if want, ok := lines[r.RuleID]; ok && (at.ArtifactLocation.URI != "coalmine.yaml" || at.Region.StartLine != want) {
			t.Errorf("SARIF has %s at %+v", r.RuleID, at)
		}
	}
}

func FuzzBaseline(f *testing.F) {
	f.Add([]byte(`{"schema":"coalmine/baseline/v1","findings":[{"target":"notes","fingerprint":"0123456789abcdef0123456789abcdef"}]}`))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = analyze.ParseBaseline("b", data) })
}
