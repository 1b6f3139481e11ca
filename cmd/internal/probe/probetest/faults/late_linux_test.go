//go:build linux && e2e

package faults

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// What one tool begins and what is done later, or by others, is never pinned on
// the tool that happens to be called then.
func TestLateWorkIsNotPinnedOnOthers(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	for _, way := range scale.First(1, []string{"child", "queue", "timer", "poller", "pool"}) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t, "late")
			o := l.Options("local", l.Path("late"), way)
			o.ShrinkTime = plan.DefaultShrinkTime // calls played alone show whose work it is
			res := l.Probe(o)
			read := func(f finding.Finding) bool { return f.Rule == "CM101" }
			if !slices.ContainsFunc(res.Findings, read) {
				t.Errorf("the reading was not found: %s, %v", res.Verdict, res.Inconclusive)
			}
			for _, f := range res.Findings {
				t.Logf("%s %q %s %s: %s", f.Rule, f.Tool, f.Phase, f.Confidence, f.Message)
				if f.Tool == "format_note" && f.Confidence != finding.Ambiguous {
					t.Errorf("it is pinned on format_note: %+v", f)
				}
			}
			own := func(f finding.Finding) bool {
				return read(f) && f.Tool == "plan_note" && f.Confidence == finding.Certain
			}
			if (way == "pool" || way == "child") && !slices.ContainsFunc(res.Findings, own) {
				t.Error("what plan_note does itself is not its own")
			}
		})
	}
}

// Work that a tool leaves to a timer, to threads or to a child is done before the next call
// begins, as far as it is due within the wait: it is nobody else's.
func TestWorkThatIsDueIsWaitedFor(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	for _, c := range scale.First(3, []struct{ tracer, way, delay string }{
		{"ebpf", "timer", "15ms"}, {"ebpf", "threads", "30ms"}, {"ebpf", "child", "100ms"}, {"strace", "timer", "5ms"}, {"strace", "child", "30ms"},
		{"ebpf", "timer", "1ms"}, {"ebpf", "timer", "100ms"}, {"ebpf", "threads", "5ms"}, {"ebpf", "child", "15ms"}, {"strace", "threads", "15ms"},
	}) {
		t.Run(c.tracer+" "+c.way+" "+c.delay, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t, "late")
			o := l.Options("local", l.Path("late"), c.way, c.delay)
			o.Tracer = c.tracer
			res := l.Probe(o)
			if !slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM101" }) {
				t.Errorf("the reading was not found: %s, %v", res.Verdict, res.Inconclusive)
			}
			for _, f := range res.Findings {
				if f.Tool == "format_note" && f.Confidence != finding.Ambiguous {
					t.Errorf("it is pinned on format_note: %+v", f)
				}
			}
		})
	}
}
