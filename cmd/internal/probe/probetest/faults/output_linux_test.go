//go:build linux && e2e

package faults

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// lister is a server that shows what lies around it, and ends.
const lister = "#!/bin/sh\ncd \"$(dirname \"$0\")\" && find . >&2\n"

// What runs write into the server's own directory is neither shown to the next
// run's server nor audited as its source.
func TestOutputIsHidden(t *testing.T) {
	t.Parallel()
	probetest.InBackends(t, func(t *testing.T, backend string) {
		for _, out := range []string{"results", "deep/below/results", "."} {
			l := probetest.New(t)
			sandboxtest.WriteProgram(t, l.Path("lister.sh"), []byte(lister))
			l.Out = l.Path(out)
			o := l.Options(backend, l.Path("lister.sh"))
			l.Probe(o)
			r := l.Probe(o)
			if !strings.Contains(r.Server.Stderr, "./lister.sh") || strings.Contains(r.Server.Stderr, "jsonl") {
				t.Errorf("--out %s: the server sees\n%s", out, r.Server.Stderr)
			}
			if out != "." && strings.Contains(r.Server.Stderr, filepath.Base(out)) {
				t.Errorf("--out %s: the server sees\n%s", out, r.Server.Stderr)
			}
			if r.Audit == nil || len(r.Audit.Findings) > 1 { // the lister has no licence
				t.Errorf("--out %s: the audit says %+v", out, r.Audit)
			}
		}
	})
}
