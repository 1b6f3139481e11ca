//go:build linux && e2e

package report

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// needMultitool puts the multitool in PATH, or skips.
func needMultitool(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", sandboxtest.Cache("multitool")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	sandboxtest.Need(t, "multitool")
}

// multitool validates SARIF as GitHub does, and returns what it has to say.
func multitool(t *testing.T, files ...string) []string {
	t.Helper()
	needMultitool(t)
	out := filepath.Join(t.TempDir(), "said.sarif")
	cmd := exec.Command("multitool", append([]string{"validate", "--rule-kind", "Sarif;Ghas", "--output", out}, files...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID, Level string
				Message       struct {
					ID        string
					Arguments []string
				}
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
			Invocations []struct{ ToolExecutionNotifications []json.RawMessage }
			Artifacts   []json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &log); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, run := range log.Runs {
		for _, r := range run.Results {
			said = append(said, fmt.Sprintf("%s %s %s %q", r.RuleID, r.Level, r.Message.ID, r.Message.Arguments))
		}
		for _, inv := range run.Invocations {
			for _, n := range inv.ToolExecutionNotifications {
				said = append(said, string(n))
			}
		}
	}
	return said
}

func TestMultitoolFindsNothing(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := t.TempDir()
	var files []string
	for name, res := range judged(t) {
		file := filepath.Join(dir, name+".sarif")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := SARIF(f, res, SARIFOptions{Default: finding.Location{Path: ".mcp.json", Line: 4, Column: 5}, AuditRoot: "servers/notes"}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, s := range multitool(t, files...) {
		t.Error(s)
	}
}

// The multitool's silence means something only if it speaks of what is wrong.
func TestMultitoolSpeaks(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	file := filepath.Join(t.TempDir(), "bad.sarif")
	if err := os.WriteFile(file, []byte(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"x"},"ruleIndex":7}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if len(multitool(t, file)) == 0 {
		t.Error("the multitool is silent about a bad file")
	}
}

// The official schema comes with the multitool.
func TestSARIFValidates(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	needMultitool(t)
	schema, err := os.ReadFile(sandboxtest.Cache("multitool", "node_modules", "@microsoft", "sarif-multitool-linux", "sarif-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := compile(t, "https://example.org/sarif.json", schema)
	for _, res := range []*analyze.Result{sample("ordinary"), sample(hostile), {Verdict: analyze.Clean}} {
		raw, _ := sarifOf(t, res)
		validate(t, s, raw)
	}
}
