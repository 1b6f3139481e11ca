//go:build linux && e2e

package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// What a server does only where it is not traced is a finding of its own.
func TestBothTracers(t *testing.T) {
	sandboxtest.Need(t, "bpf")
	probetest.Need(t, "local")
	for server, want := range map[string]bool{"shy": true, "leaky": false, "honest": false} {
		l := probetest.New(t, "shy", "leaky", "honest")
		o := l.Options("local", l.Path(server))
		o.Tracer, o.ShrinkTime = plan.TracerBoth, time.Millisecond
		res := l.Probe(o)
		differs := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM210" })
		if differs != want {
			t.Errorf("%s: CM210 %t; %+v", server, differs, res.Findings)
		}
		if server == "honest" && res.Verdict != analyze.Clean {
			t.Errorf("honest: %s, %v", res.Verdict, res.Inconclusive)
		}
	}
}
