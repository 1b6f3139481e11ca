package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Servers of one configuration are judged as one by what their runs left.
func TestTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leaky, web := filepath.Join(dir, "leaky"), filepath.Join(dir, "web")
	analyzetest.UnpackRun(t, "../../../testdata/runs/local-ebpf-findings-leaky.tar.gz", leaky)
	root, err := os.OpenRoot(leaky)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	res, in, err := analyze.Judge(root, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Write(session.Output{Root: root}, res, in); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(web, 0o700); err != nil {
		t.Fatal(err)
	}
	const declared = `{"declared":{"tools":[{"name":"fetch\u001b[31m","urls":["url"]}]}}`
	if err := os.WriteFile(filepath.Join(web, report.FileJSON), []byte(declared), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, string) {
		var out, errs bytes.Buffer
		if status := Main(append([]string{"together"}, args...), strings.NewReader(""), &out, &errs); status != ExitOK {
			t.Errorf("%q: status %d\n%s", args, status, errs.String())
		}
		return out.String(), errs.String()
	}
	got, said := run(leaky, web)
	const want = `together: an agent with all these servers can be led to send away what is secret
  text comes in    by format_note of leaky (seen: asked 93.184.216.34:80)
  text comes in    by fetch\u{1B}[31m of web (declares: takes the address url)
  secrets are read by format_note of leaky (seen: read the decoy ssh-key)
  text goes out    by format_note of leaky (seen: asked 93.184.216.34:80)
  text goes out    by fetch\u{1B}[31m of web (declares: takes the address url)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(said, "not compared with other servers") || strings.Contains(got, "\x1b") {
		t.Errorf("%q, %q", got, said)
	}
	if got, _ := run(leaky, leaky); got != "together: these servers make nothing possible that one alone does not\n" {
		t.Error(got)
	}
	if got, _ := run("--format", "json", leaky, web); !strings.Contains(got, `"toxic": true`) || !strings.Contains(got, "coalmine/together/v1") {
		t.Error(got)
	}
}
