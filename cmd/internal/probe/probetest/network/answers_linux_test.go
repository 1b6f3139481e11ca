//go:build linux && e2e

package network

import (
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestAnswersFit: a tool that reads members of an answer works, one that takes another
// kind of answer gets it in a later call, and what a tool reads of a JSON text carries
// attack inputs.
func TestAnswersFit(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	l := probetest.New(t)
	probetest.CopyFixture(l.T, sandboxtest.ModuleRoot(l.T)+"/testdata/servers/asker/asker.py", l.Path("asker.py"))
	o := l.Options("local", "python3", l.Path("asker.py"))
	// It takes half a minute alone; a busy machine is no reason to miss an input.
	o.Timeout, o.OracleTime, o.ShrinkTime = 3*time.Minute, 2*time.Minute, time.Nanosecond
	res := l.ProbeWithin(5*time.Minute, o)
	for _, name := range []string{"forecast", "page"} {
		if !slices.ContainsFunc(res.Coverage.Tools, func(c analyze.ToolCoverage) bool { return c.Name == name && c.OK > 0 }) {
			t.Errorf("%s never worked: %+v", name, res.Coverage.Tools)
		}
	}
	if !slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM301" && f.Tool == "save" }) {
		t.Errorf("what runs a member of a JSON text was not found: %+v", res.Findings)
	}
}
