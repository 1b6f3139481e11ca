package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const ownRule = `  - id: ORG-001
    name: A program <b>nobody</b> listed
    severity: medium
    over: effect
    when: effect.kind == "exec"
    text: "{effect.tool} runs {effect.target}"
    help: See [the handbook](https://handbook.example).
    references: [https://handbook.example/programs]
    tags: [programs]
    examples: {match: [{kind: exec}], no_match: [{}]}
`

// withRules judges a directory by a policy with a rule and a file of rules.
func withRules(t *testing.T, dir string, change func(*analyze.Inputs)) (*analyze.Result, map[string][]byte) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	res, in, err := analyze.Judge(root, "1.2.3", change)
	if err != nil {
		t.Fatal(err)
	}
	out := session.Output{Root: root}
	if err := Write(out, res, in); err != nil {
		t.Fatal(err)
	}
	if err := analyze.WriteInputs(out, *in, res.Audit); err != nil {
		t.Fatal(err)
	}
	reports := map[string][]byte{}
	for _, name := range []string{FileJSON, FileSARIF, FileHTML, FileSummary} {
		if reports[name], err = root.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return res, reports
}

// Rules are kept with the run: judged again without their files, in another place, it
// gets the same reports.
func TestOwnRulesAreKeptWithTheRun(t *testing.T) {
	dir := t.TempDir()
	analyzetest.UnpackRun(t, "../../testdata/runs/local-strace-findings-leaky.tar.gz", dir)
	res, was := withRules(t, dir, func(in *analyze.Inputs) {
		in.Policy = &analyze.File{Name: "coalmine.yaml", Text: "rules:\n" + ownRule + "  - own.yaml\n"}
		in.PolicyRules = []analyze.File{{Name: "own.yaml", Text: "rules:\n" + strings.Replace(ownRule, "ORG-001", "ORG-002", 1)}}
		in.Rules = []analyze.File{{Name: "more.yaml", Text: "rules:\n" + strings.Replace(ownRule, "ORG-001", "ORG-003", 1)}}
	})
	found := map[string]int{}
	for _, f := range res.Findings {
		found[f.Rule]++
	}
	if len(res.Rules) != 3 || found["ORG-001"] == 0 || found["ORG-002"] == 0 || found["ORG-003"] == 0 {
		t.Fatalf("%d rules, found %v", len(res.Rules), found)
	}
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	_, now := withRules(t, moved, func(*analyze.Inputs) {})
	for name := range was {
		if !bytes.Equal(was[name], now[name]) {
			t.Errorf("%s is another", name)
		}
	}
	validate(t, compile(t, "https://example.org/report.json", Schema), was[FileJSON])
	for _, want := range []string{"https://handbook.example/programs", "About ORG-001", "A program &lt;b&gt;nobody&lt;/b&gt; listed"} {
		if !bytes.Contains(was[FileHTML], []byte(want)) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestOwnRulesInSARIF(t *testing.T) {
	res := sample("x")
	res.Rules = []custom.Doc{{ID: "ORG-001", Name: "A program <b>nobody</b> listed", Severity: "medium", Over: custom.Effects, Help: "See [the handbook](https://handbook.example).", References: []string{"https://handbook.example/programs"}, Tags: []string{"programs"}}}
	res.Findings[0].Rule = "ORG-001"
	_, doc := sarifOf(t, res)
	run := doc["runs"].([]any)[0].(map[string]any)
	rules := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
	own := rules[len(rules)-1].(map[string]any)
	named := map[string]bool{}
	for _, f := range res.All() {
		named[f.Rule] = true
	}
	if len(rules) != len(named) || own["id"] != "ORG-001" || own["name"] != "AProgramBNobodyBListed" || own["helpUri"] != "https://handbook.example/programs" {
		t.Errorf("%v", own)
	}
	if text := own["shortDescription"].(map[string]any)["text"]; text != "A program < b>nobody< /b> listed." {
		t.Errorf("%v", text)
	}
	seen := false
	for _, r := range run["results"].([]any) {
		r := r.(map[string]any)
		if r["ruleId"] == "ORG-001" {
			seen = true
			if i := int(r["ruleIndex"].(float64)); rules[i].(map[string]any)["id"] != "ORG-001" {
				t.Errorf("its index leads to %v", rules[i])
			}
		}
	}
	if !seen {
		t.Error("it is no result")
	}
}
