package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
)

var update = flag.Bool("update", false, "write the golden files and the rules' README anew")

// golden compares got with a file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: look at it, and run `make generate` where it is meant\n%s", name, got)
	}
}

func TestRulesREADME(t *testing.T) {
	golden(t, "../rules/README.md", []byte(rules.README(Rules())))
	golden(t, "../../docs/rules/index.md", []byte(rules.Index(Rules())))
	for _, r := range Rules() {
		golden(t, "../../docs/rules/"+strings.ToLower(r.ID)+".md", []byte(rules.Page(&r)))
	}
}

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N}\- ]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

func TestHelpURIsLeadToHeadings(t *testing.T) {
	headings := map[string]bool{}
	for line := range strings.Lines(rules.README(Rules())) {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			headings[anchor(strings.TrimSpace(h))] = true
		}
	}
	res := &analyze.Result{}
	for _, r := range Rules() {
		res.Findings = append(res.Findings, finding.Finding{Rule: r.ID, Severity: r.Severity, Title: r.Name, Fingerprint: r.ID})
	}
	var b bytes.Buffer
	if err := SARIF(&b, res, SARIFOptions{}); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Rules []struct{ ID, HelpURI string }
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	docs := log.Runs[0].Tool.Driver.Rules
	if len(docs) != len(Rules()) {
		t.Fatalf("%d rules in SARIF, %d in all", len(docs), len(Rules()))
	}
	for _, r := range docs {
		u, err := url.Parse(r.HelpURI)
		if err != nil || !strings.HasSuffix(u.Path, "/analyze/rules/README.md") || !headings[u.Fragment] {
			t.Errorf("%s: %s leads to no heading", r.ID, r.HelpURI)
		}
	}
}
