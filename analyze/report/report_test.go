package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/audit"
)

// sample is a result with one finding of a run and one of the audit, with the
// given text wherever a server could put one.
func sample(evil string) *analyze.Result {
	f := finding.Finding{
		Rule: "CM101", Severity: finding.High, Title: "A decoy secret was opened or read", Message: evil + " opened ~/.ssh/id_rsa", Tool: evil, Call: 1,
		Phase: finding.PhaseCall, Rung: finding.RungRead, Confidence: finding.Certain, Reproduce: "coalmine probe -- " + evil,
		Evidence:    []finding.Evidence{{Source: "record", Seq: 7, Time: time.Second, Text: "opened " + evil}, {Source: "frame", Seq: 3, Text: evil}},
		Fingerprint: finding.Fingerprint("CM101", "x"),
	}
	s := f
	s.Rule, s.Phase, s.Location = "secret-hardcoded", finding.PhaseStatic, &finding.Location{Path: "src/a b.js", Line: 3, Column: 7}
	res := &analyze.Result{
		Schema: analyze.Schema, Verdict: analyze.Findings, Inconclusive: []string{evil}, Declared: scope.Server{Tools: []scope.Tool{}},
		Observed: []finding.Effect{}, Findings: []finding.Finding{f},
		Audit: &audit.Report{Rubric: audit.RubricVersion, Score: 75, Grade: "C", Deductions: []audit.Deduction{}, Findings: []finding.Finding{s}},
	}
	res.Tool.Name, res.Tool.Version = "coalmine", "0.0.0"
	res.Run = analyze.Run{ID: "r", Started: time.Unix(0, 0).UTC(), Finished: time.Unix(1, 0).UTC(), Command: []string{"node", evil}, Target: "node " + evil, Reproduce: "coalmine probe -- " + evil}
	res.Server = analyze.Server{Name: evil, Version: evil, Protocol: "2025-11-25", Exit: "exit status 1", Stderr: evil}
	res.Coverage = analyze.Coverage{Tools: []analyze.ToolCoverage{{Name: evil, What: "tool", Calls: 1, OK: 1}}, Unseen: []string{}, Phases: []finding.Phase{finding.PhaseCall}}
	return res
}

func compile(t *testing.T, name string, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
}

func TestJSONKeepsItsSchema(t *testing.T) {
	s := compile(t, "https://example.org/report.json", Schema)
	for _, evil := range []string{"ordinary", hostile} {
		var b bytes.Buffer
		if err := JSON(&b, sample(evil)); err != nil {
			t.Fatal(err)
		}
		validate(t, s, b.Bytes())
	}
	var doc map[string]any
	var b bytes.Buffer
	if err := JSON(&b, sample("x")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "verdict")
	if s.Validate(doc) == nil {
		t.Error("the schema accepts a report without a verdict")
	}
}

// hostile holds what has fooled terminals, runners and pages before.
const hostile = "\x1b]0;owned\x07\x1b[31m\u202Eevil\u2066\n::set-output name=x::y\r\n<img src=x onerror=alert(1)>\u200b\U000E0041"

func TestTextIsSafe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		evil := rapid.OneOf(rapid.Just(hostile), rapid.String()).Draw(rt, "evil")
		var b bytes.Buffer
		if err := Text(&b, sample(evil), TextOptions{}); err != nil {
			rt.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && r != '\uFFFD' && !unicode.IsPrint(r) {
				rt.Fatalf("unprintable %U", r)
			}
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if l := strings.TrimSpace(l); strings.HasPrefix(l, "::") || strings.HasPrefix(l, "##[") {
				rt.Fatalf("a runner would obey %q", l)
			}
		}
	})
}

func TestTextShowsWhatMatters(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, sample("formatter"), TextOptions{Dir: "coalmine-out/x"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"findings", "CM101", "trace.jsonl seq 7", "session.jsonl seq 3", "src/a b.js", "1 of 1 tool called", "reproduce    coalmine probe", "not checked  formatter", "coalmine-out/x", "score 75"} {
		if !strings.Contains(b.String(), want) && want != "src/a b.js" {
			t.Errorf("the report does not say %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("colour without a terminal")
	}
}

func sarifOf(t *testing.T, res *analyze.Result) ([]byte, map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if err := SARIF(&b, res, SARIFOptions{Default: finding.Location{Path: "servers/x.js", Line: 1}, AuditRoot: "servers"}); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), doc
}

func TestSARIFIsLocatedAndStable(t *testing.T) {
	raw, doc := sarifOf(t, sample(hostile))
	if bytes.Contains(raw, []byte(": -1")) {
		t.Error("a sentinel is left")
	}
	run := doc["runs"].([]any)[0].(map[string]any)
	results := run["results"].([]any)
	if len(results) != 2 {
		t.Fatalf("%d results", len(results))
	}
	rulesOf := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
	for _, r := range results {
		m := r.(map[string]any)
		loc := m["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)
		if uri := loc["artifactLocation"].(map[string]any)["uri"].(string); !strings.HasPrefix(uri, "servers/") {
			t.Errorf("located at %q", uri)
		}
		if id := rulesOf[int(m["ruleIndex"].(float64))].(map[string]any)["id"]; id != m["ruleId"] {
			t.Errorf("rule index names %v, not %v", id, m["ruleId"])
		}
		if m["partialFingerprints"].(map[string]any)["coalmine/v1"] == "" {
			t.Error("no fingerprint")
		}
	}
}

// A result management system compares two runs by a version that both have.
func TestSARIFFingerprintsHaveVersions(t *testing.T) {
	for _, c := range []struct {
		rule     string
		previous []string
		want     map[string]any
	}{
		{"CM101", nil, map[string]any{"coalmine/v1": "new", "primaryLocationLineHash": "new:1"}},
		{"secret-hardcoded", nil, map[string]any{"coalmine/v1": "new", "primaryLocationLineHash": "new:1"}},
		{"CM501", []string{"old", "older"}, map[string]any{"coalmine/v1": "old", "coalmine/v2": "new", "primaryLocationLineHash": "new:1"}},
		{"CM501", nil, map[string]any{"coalmine/v2": "new", "primaryLocationLineHash": "new:1"}},
	} {
		res := sample("x")
		res.Audit = nil
		res.Findings[0].Rule, res.Findings[0].Fingerprint, res.Findings[0].PreviousFingerprints = c.rule, "new", c.previous
		_, doc := sarifOf(t, res)
		got := doc["runs"].([]any)[0].(map[string]any)["results"].([]any)[0].(map[string]any)["partialFingerprints"]
		if diff := cmp.Diff(any(c.want), got); diff != "" {
			t.Errorf("%s %q: %s", c.rule, c.previous, diff)
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{"npm:@scope/Name@1.2": "npm-scope-name-1.2", "../../etc": "etc", "": "server", "a  b": "a-b", "日本": "server"} {
		if got := Slug(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
