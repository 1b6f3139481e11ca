package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// kept are the archives of runs that were recorded once.
func kept(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("../../testdata/runs/*.tar.gz")
	if err != nil || len(names) < 40 {
		t.Fatalf("%d kept runs: %v", len(names), err)
	}
	return names
}

// rejudged judges a directory as the version does that wrote the kept reports, and
// returns the reports written.
func rejudged(t *testing.T, dir string, version string) map[string][]byte {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	res, in, err := analyze.Judge(root, version)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(session.Output{Root: root}, res, in); err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, name := range []string{FileJSON, FileSARIF, FileHTML, FileSummary} {
		if out[name], err = root.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// versionOf is the version that wrote a report.
func versionOf(t *testing.T, report []byte) string {
	t.Helper()
	var r struct{ Tool struct{ Version string } }
	if err := json.Unmarshal(report, &r); err != nil {
		t.Fatal(err)
	}
	return r.Tool.Version
}

// differences are the members in which reports may differ from the kept ones.
var differences = []struct {
	file, member, reason string
}{
	{FileJSON, "gaps", "a reason for doubt has a code and a remedy beside its text"},
	{FileJSON, "reach", "tools that were not looked at are told apart"},
	{FileJSON, "explained", "each effect has its explanation"},
	{FileSARIF, "rules", "the documentation of rules grows"},
	{FileSARIF, "ruleIndex", "a new rule moves those after it"},
	{FileSARIF, "index", "a new rule moves those after it"},
}

// about is a rule's documentation in a page, which grows as it does in SARIF.
var about = regexp.MustCompile(`(?s)<details><summary>About CM\d+</summary>.*?</details>`)

// explained is what explains an effect in a page, which kept pages do not have.
var explained = regexp.MustCompile(` <span class="why soft">.*?</span>`)

// wasRead and sourceLine say how much of the source was parsed, which kept reports do not have.
var (
	wasRead    = regexp.MustCompile(`( files audited); [^<]*?(\.</p>|\. coalmine ignored)`)
	sourceLine = regexp.MustCompile(`(?m)^The source: .*\n\n`)
)

// ledgerPart is the ledger of the summary, which kept summaries do not have.
var ledgerPart = regexp.MustCompile(`(?s)<details><summary>What each tool did, and what explains it</summary>.*?</details>\n\n`)

// comparable is a report without the members that may differ. What is no JSON stays,
// but for the documentation of rules.
func comparable(t *testing.T, file string, data []byte) []byte {
	t.Helper()
	if file == FileHTML {
		return wasRead.ReplaceAll(explained.ReplaceAll(about.ReplaceAll(data, nil), nil), []byte("$1$2"))
	}
	if file == FileSummary {
		return sourceLine.ReplaceAll(ledgerPart.ReplaceAll(data, nil), nil)
	}
	if !strings.HasSuffix(file, "json") && !strings.HasSuffix(file, "sarif") {
		return data
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, d := range differences {
				if d.file == file {
					delete(v, d.member)
				}
			}
			// The kept messages were written before links and markup in them were parted.
			if m, ok := v["message"].(map[string]any); ok && file == FileSARIF {
				if said, ok := m["text"].(string); ok {
					m["text"] = inert(said)
				}
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKeptRuns: the verdict of runs that were recorded once stays as it was.
func TestKeptRuns(t *testing.T) {
	for _, name := range kept(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			was := analyzetest.UnpackRun(t, name, dir)
			now := rejudged(t, dir, versionOf(t, was[FileJSON]))
			if os.Getenv("COALMINE_REPACK") != "" {
				analyzetest.RepackRun(t, name, now)
				return
			}
			for file, want := range was {
				if diff := cmp.Diff(string(comparable(t, file, want)), string(comparable(t, file, now[file]))); diff != "" {
					t.Errorf("%s (-kept +now): %.2000s", file, diff)
				}
			}
			if os.Getenv("COALMINE_JUDGE") == "" {
				return
			}
			judgedElsewhere(t, dir, was, now)
			flipped(t, dir, was, now)
		})
	}
}

// judgedElsewhere judges the run again in another directory that belongs to another user,
// without reports: they must be the same bytes.
func judgedElsewhere(t *testing.T, dir string, was, now map[string][]byte) {
	t.Helper()
	moved := filepath.Join(t.TempDir(), "a place of another name")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.Rename(moved, dir); err != nil {
			t.Fatal(err)
		}
	}()
	const nobody = 65534
	err := filepath.WalkDir(moved, func(p string, d os.DirEntry, err error) error {
		if err == nil && slices.Contains([]string{FileJSON, FileSARIF, FileHTML, FileSummary}, d.Name()) {
			return os.Remove(p)
		}
		if err == nil && os.Geteuid() == 0 {
			err = os.Chown(p, nobody, nobody)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range rejudged(t, moved, versionOf(t, was[FileJSON])) {
		if !bytes.Equal(data, now[file]) {
			t.Errorf("%s is another in another place", file)
		}
	}
}

// flipped changes one record of the run's log: the report must change.
func flipped(t *testing.T, dir string, was, now map[string][]byte) {
	t.Helper()
	name := filepath.Join(dir, session.TraceFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(data, []byte("\n"))
	for _, flip := range [][2]string{{`"op":"exec"`, `"op":"unlink"`}, {`"kind":"return"`, `"kind":"call"`}, {`"type":"exit"`, `"type":"limit"`}, {`"kind":"phase"`, `"kind":"loss"`}, {`"kind":"inconclusive"`, `"kind":"phase"`}} {
		i := len(lines) - 1
		for ; i > 0 && !bytes.Contains(lines[i], []byte(flip[0])); i-- {
		}
		if i == 0 {
			continue
		}
		lines[i] = bytes.Replace(lines[i], []byte(flip[0]), []byte(flip[1]), 1)
		if err := os.WriteFile(name, bytes.Join(lines, []byte("\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(rejudged(t, dir, versionOf(t, was[FileJSON]))[FileJSON], now[FileJSON]) {
			t.Errorf("line %d was changed from %s to %s, and the report is the same", i+1, flip[0], flip[1])
		}
		return
	}
	t.Error("there is no record that could be changed")
}
