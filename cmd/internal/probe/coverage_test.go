package probe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/synth"
)

// What only varied calls reached counts where a judged run made them too, and not otherwise.
func TestGuidedCodeCountsWhereItWasJudged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := "import os\n\n\ndef plain():\n    return 1\n\n\ndef deep():\n    os.system('x')\n"
	if err := os.WriteFile(filepath.Join(dir, "s.py"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	code, err := coverage.Read(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	recorded := func(text string) []rootfs.File { return []rootfs.File{{Path: "/r", Data: []byte(text)}} }
	const plain, deep = "F\t1\ts.py\nE\t1\t4\tplain\nL\t1\t5\n", "E\t1\t8\tdeep\nL\t1\t9\n"
	for _, c := range []struct {
		name                      string
		kept                      int
		judged                    bool
		why                       string
		reached, unguided, guided int
		unrecorded                string
	}{
		{"nothing kept", 0, false, "", 2, 2, 0, ""},
		{"kept and judged", 3, true, "", 2, 1, 3, ""},
		{"kept and not judged", 3, false, "", 1, 1, 0, ""},
		{"not recorded", 0, false, "it failed", 0, 0, 0, "it failed"},
		{"recorded only when left alone", 0, false, "it failed", 0, 0, 0, "it failed"},
	} {
		rested := run.Observations{}
		if c.name == "recorded only when left alone" {
			rested.Recorded = recorded(plain)
		}
		seen := run.Observations{Recorded: recorded(plain + deep), Unguided: recorded(plain), Guided: synth.Guided{Kept: c.kept}}
		r := covered(code, &seen, rested.Recorded, c.judged, c.why)
		if r.Reached != c.reached || r.Unguided != c.unguided || r.Guided != c.guided || r.Unrecorded != c.unrecorded {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}
