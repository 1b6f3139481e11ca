package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/policy"
)

// A suppression is needed where it holds by a fingerprint of the version before.
func TestStaleSuppressions(t *testing.T) {
	for fingerprint, want := range map[string]int{"new": ExitOK, "before": ExitOK, "another": ExitUsage} {
		f := &probeFlags{}
		f.Policy = &policy.Policy{File: "coalmine.yaml", Suppress: []policy.Suppression{{Fingerprint: fingerprint}}}
		res := &analyze.Result{Policy: &analyze.Policed{Accepted: []analyze.Accepted{{Known: analyze.Known{Fingerprint: "new", PreviousFingerprints: []string{"before"}}}}}}
		if err := f.policed(res, nil); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		if got := (&env{err: &said}).stale(f); got != want || strings.Contains(said.String(), "suppresses nothing") != (want != ExitOK) {
			t.Errorf("%s: %d, want %d\n%s", fingerprint, got, want, said.String())
		}
	}
}
