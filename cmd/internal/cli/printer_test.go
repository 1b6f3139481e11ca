package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
)

// judged makes the directory of a run's reports.
func judged(t *testing.T, target string) (*analyze.Result, string) {
	t.Helper()
	dir := t.TempDir()
	res := &analyze.Result{Run: analyze.Run{Target: target}, Findings: []finding.Finding{{Rule: "CM101", Severity: finding.High, Message: target}}}
	for name, text := range map[string]string{report.FileJSON: `{"target":"` + target + `"}`, report.FileSARIF: `{"version":"2.1.0","runs":[{"id":"` + target + `"}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return res, dir
}

// printed is what a command prints of servers in a format.
func printed(t *testing.T, format string, several bool, targets ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	p, err := (&env{out: &out}).newPrinter([]string{format}, several)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		res, dir := judged(t, target)
		if err := p.add(res, dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.finish(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The reports of several servers are one document in each format for machines, also where
// none or one of them could be probed.
func TestSeveralServersAreOneDocument(t *testing.T) {
	t.Parallel()
	for _, targets := range [][]string{{}, {"a"}, {"a", "b", "c"}} {
		var list []struct{ Target string }
		if raw := printed(t, "json", true, targets...); json.Unmarshal(raw, &list) != nil || len(list) != len(targets) {
			t.Errorf("%q in JSON: %s", targets, raw)
		}
		var log struct {
			Version string
			Runs    []struct{ ID string }
		}
		if raw := printed(t, "sarif", true, targets...); json.Unmarshal(raw, &log) != nil || len(log.Runs) != len(targets) || log.Version != "2.1.0" {
			t.Errorf("%q in SARIF: %s", targets, raw)
		}
		for i, target := range targets {
			if list[i].Target != target || log.Runs[i].ID != target {
				t.Errorf("%q: %+v %+v", targets, list, log)
			}
		}
		if len(targets) == 0 {
			continue
		}
		var suites struct {
			Tests  int `xml:"tests,attr"`
			Suites []struct {
				Name  string `xml:"name,attr"`
				Tests int    `xml:"tests,attr"`
			} `xml:"testsuite"`
		}
		raw := printed(t, "junit", true, targets...)
		if err := xml.Unmarshal(raw, &suites); err != nil || len(suites.Suites) != len(targets) || suites.Tests != len(targets)*suites.Suites[0].Tests {
			t.Errorf("%q in JUnit: %v\n%s", targets, err, raw)
		}
	}
}

// One server's report is the document itself.
func TestOneServerIsNoList(t *testing.T) {
	t.Parallel()
	if raw := printed(t, "json", false, "a"); string(raw) != `{"target":"a"}` {
		t.Errorf("%s", raw)
	}
}

func TestFormatsGoToFiles(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	dir := t.TempDir()
	p, err := (&env{out: &out}).newPrinter([]string{"json=" + filepath.Join(dir, "all.json"), "line"}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"a", "b"} {
		res, at := judged(t, target)
		if err := p.add(res, at, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.finish(); err != nil {
		t.Fatal(err)
	}
	var list []any
	if raw, err := os.ReadFile(filepath.Join(dir, "all.json")); err != nil || json.Unmarshal(raw, &list) != nil || len(list) != 2 {
		t.Errorf("%v %s", err, raw)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 2 || bytes.ContainsRune(out.Bytes(), '{') {
		t.Errorf("%q", out.Bytes())
	}
	for _, wrong := range []string{"pdf", "json=", "=x", ""} {
		if _, err := (&env{}).newPrinter([]string{wrong}, false); err == nil {
			t.Errorf("%q is a format", wrong)
		}
	}
	p, err = (&env{out: &out}).newPrinter([]string{"line=" + filepath.Join(dir, "none", "x")}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.finish(); err == nil {
		t.Error("a file in a directory that is not there was written")
	}
}
