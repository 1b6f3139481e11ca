package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
)

// keptRun unpacks a run that was recorded once, without its reports.
func keptRun(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	analyzetest.UnpackRun(t, "../../../testdata/runs/"+name+".tar.gz", dir)
	return dir
}

// judgeSays runs coalmine judge and returns its status and what it prints.
func judgeSays(args ...string) (status int, out, errOut string) {
	var o, e bytes.Buffer
	status = Main(append([]string{"judge", "--format", "line"}, args...), strings.NewReader(""), &o, &e)
	return status, o.String(), e.String()
}

func TestJudge(t *testing.T) {
	dir := keptRun(t, "local-strace-findings-leaky")
	status, out, errOut := judgeSays(dir)
	if status != ExitFindings || !strings.Contains(out, "findings (1 critical, 3 high)") || errOut != "" {
		t.Errorf("judged first: %d %q %q", status, out, errOut)
	}
	was, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := judgeSays(dir); status != ExitFindings || errOut != "" {
		t.Errorf("judged again: %d, and it changes %q", status, errOut)
	}
	policy := filepath.Join(t.TempDir(), "coalmine.yaml")
	if err := os.WriteFile(policy, []byte("schema: coalmine/policy/v1\ntools:\n  format_note:\n    deny:\n      files: [\"~/.ssh/**\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := judgeSays("--policy", policy, dir); status != ExitFindings || !strings.HasPrefix(errOut, "+ CM208 ") {
		t.Errorf("with a policy: %d %q", status, errOut)
	}
	if status, _, errOut := judgeSays("--fail-on", "never", dir); status != ExitOK || !strings.HasPrefix(errOut, "- CM208 ") {
		t.Errorf("without it again: %d %q", status, errOut)
	}
	now, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil || !bytes.Equal(was, now) {
		t.Errorf("by the probe's own inputs the report is another: %v", err)
	}
}

// What a directory says is hostile: it may come from another machine.
func TestJudgeRefuses(t *testing.T) {
	outside := keptRun(t, "local-strace-findings-leaky")
	for name, c := range map[string]struct {
		spoil func(dir string) error
		says  string
	}{
		"no run":            {func(dir string) error { return os.RemoveAll(filepath.Join(dir, "judge.json")) }, "no run is logged here"},
		"no index":          {func(dir string) error { return os.Remove(filepath.Join(dir, "index.json")) }, "index.json"},
		"an index outside":  {put("index.json", `{"schema":"coalmine/index/v1","runs":[{"role":"declared","experiment":"declared","dir":"."},{"role":"further","experiment":"second","dir":"../x"}]}`), "is not a directory of a run"},
		"a role of none":    {put("index.json", `{"schema":"coalmine/index/v1","runs":[{"role":"boss","experiment":"declared","dir":"."}]}`), "is not known"},
		"a later schema":    {put("judge.json", `{"schema":"coalmine/judge/v9"}`), "this version reads"},
		"a broken policy":   {put("judge.json", `{"schema":"coalmine/judge/v1","policy":{"name":"p","text":"tools: 7"}}`), "policy"},
		"a link for a log":  {link("trace.jsonl", filepath.Join(outside, "trace.jsonl")), "trace.jsonl"},
		"a link for a run":  {runBehindLink(outside), "second"},
		"a link for inputs": {link("judge.json", filepath.Join(outside, "judge.json")), "judge.json"},
	} {
		dir := keptRun(t, "local-strace-findings-leaky")
		if err := c.spoil(dir); err != nil {
			t.Fatal(err)
		}
		status, _, errOut := judgeSays(dir)
		if status != ExitUsage || !strings.Contains(errOut, c.says) || !strings.Contains(errOut, "hint: ") {
			t.Errorf("%s: %d %q", name, status, errOut)
		}
	}
	if status, _, errOut := judgeSays(filepath.Join(t.TempDir(), "nothing")); status != ExitUsage || !strings.Contains(errOut, "hint: ") {
		t.Errorf("no directory: %d %q", status, errOut)
	}
}

func put(name, text string) func(string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
}

func link(name, to string) func(string) error {
	return func(dir string) error {
		return errors.Join(os.Remove(filepath.Join(dir, name)), os.Symlink(to, filepath.Join(dir, name)))
	}
}

// runBehindLink names a further run whose directory is a link that leads out.
func runBehindLink(to string) func(string) error {
	return func(dir string) error {
		return errors.Join(os.Symlink(to, filepath.Join(dir, "second")),
			put("index.json", `{"schema":"coalmine/index/v1","runs":[{"role":"declared","experiment":"declared","dir":"."},{"role":"further","experiment":"second","dir":"second","how":"x"}]}`)(dir))
	}
}

// A log or a report that is a link is not read: whoever filled the directory may have made it.
func TestALinkedLogIsNotRead(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	log := `{"seq":1,"ts":"","dir":"c2s","frame":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"of_the_user"}}}` + "\n"
	putFile(t, filepath.Join(outside, "session.jsonl"), log)
	putFile(t, filepath.Join(outside, "report.json"), `{"schema":"coalmine/report/v1","verdict":"findings","server":{"name":"of_the_user"},"findings":[]}`)
	for _, name := range []string{"session.jsonl", "report.json"} {
		if err := os.Symlink(filepath.Join(outside, name), filepath.Join(dir, name)); err != nil {
			t.Skipf("this system has no links: %v", err)
		}
	}
	for _, command := range []string{"summarize", "detect", "report", "baseline", "advise"} {
		var out, errs bytes.Buffer
		if status := Main([]string{command, dir}, strings.NewReader(""), &out, &errs); status != ExitUsage || strings.Contains(out.String()+errs.String(), "of_the_user") {
			t.Errorf("%s: status %d\n%s%s", command, status, out.String(), errs.String())
		}
	}
}
