package doctor

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// The twins lie in directories of their own, and only one of them is leaky.
func TestTwinsArePlaced(t *testing.T) {
	t.Parallel()
	p := prover{dir: t.TempDir()}
	if err := p.place(); err != nil {
		t.Fatal(err)
	}
	leak, err := os.ReadFile(filepath.Join(p.dir, twinLeaky, "leak.py"))
	if err != nil || !bytes.Contains(leak, []byte(filepath.Join(p.dir, "host", "marker"))) || !bytes.Contains(leak, []byte(`"192.0.2.1"`)) {
		t.Errorf("%v: %s", err, leak)
	}
	if _, err := os.Stat(filepath.Join(p.dir, twinHonest, "leak.py")); err == nil {
		t.Error("the honest twin is leaky")
	}
	if python, err := exec.LookPath("python3"); err == nil {
		cmd := exec.Command(python, p.twin(twinHonest))
		cmd.Stdin = strings.NewReader(`{"id":1,"method":"tools/list"}` + "\n" + `{"id":2,"method":"tools/call","params":{"name":"format_note","arguments":{"text":" a "}}}` + "\n")
		out, err := cmd.Output()
		if err != nil || !bytes.Contains(out, []byte(`"name": "format_note"`)) || !bytes.Contains(out, []byte(`"text": "a"`)) {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// Only what a rule reported is proven.
func TestFound(t *testing.T) {
	t.Parallel()
	r := &analyze.Result{Findings: []finding.Finding{{Rule: "CM103"}}, Inconclusive: []string{"a gap"}}
	if s := found(r, rules.ProofSent); s.OK != sandbox.Yes {
		t.Errorf("%+v", s)
	}
	if s := found(r, rules.ProofRead); s.OK != sandbox.No || !strings.Contains(s.Reason, "a gap") {
		t.Errorf("%+v", s)
	}
	if r := (Row{What: "local: " + runsServer}); !r.Runs() {
		t.Error("the row of a sandbox is not known")
	}
}
