//go:build linux && e2e

package sandbox_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// work are what the tracers' cost is measured by; testdata/bench/bounds.txt bounds it.
var work = []struct {
	name  string
	needs string
	args  []string
}{
	{"calls", "", []string{"calls"}},
	{"node", "node", []string{"run", "node", "-e", "0"}},
	{"python", "python3", []string{"run", "python3", "-c", "0"}},
	{"spawns", "", []string{"spawns", "true"}},
	{"opens", "", []string{"opens"}},
}

// cost is how long work took, and how long a processor worked for it.
type cost struct{ wall, cpu time.Duration }

// least is the less of two costs: whatever else the machine does only adds.
func (c cost) least(other cost) cost { return cost{min(c.wall, other.wall), min(c.cpu, other.cpu)} }

// took runs the work in a bare sandbox and returns what it says that it cost.
func took(b *testing.B, back sandboxtest.Bare, tracer, set string, command ...string) cost {
	b.Helper()
	s := spec(command...)
	s.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	s.Tracer, s.TraceSet = tracer, set
	run := start(b, back, s)
	run.ends(b)
	if run.Lost() > 0 {
		b.Logf("%d lost", run.Lost())
	}
	return costOf(b, run.Out())
}

func costOf(b *testing.B, out string) cost {
	b.Helper()
	var c cost
	if _, err := fmt.Sscan(strings.TrimSpace(out), &c.wall, &c.cpu); err != nil {
		b.Fatalf("the work did not end well: %q", out)
	}
	return c
}

// BenchmarkTracers gives each tracer's cost as a ratio to the untraced run of the same
// work beside it ("x"), and the same of the processor's time alone ("cpu-x"), which a
// busy machine leaves as it is.
func BenchmarkTracers(b *testing.B) {
	sandboxtest.Need(b, "bpf", "gcc", "strace")
	bin := program(b, "work")
	for _, w := range work {
		if w.needs != "" {
			sandboxtest.Need(b, w.needs)
		}
		command := append([]string{bin}, w.args...)
		for _, kind := range []struct {
			name, tracer, set string
		}{
			{"strace-core", sandbox.TracerStrace, "core"}, {"strace-io", sandbox.TracerStrace, "io"},
			{"ebpf", sandbox.TracerEBPF, "core"}, {"plain-strace-f", "", ""},
		} {
			b.Run(w.name+"/"+kind.name, func(b *testing.B) {
				back := bare(b)
				if kind.tracer == sandbox.TracerStrace {
					back.Strace = tracer(b)
				}
				with, without := cost{time.Hour, time.Hour}, cost{time.Hour, time.Hour}
				for b.Loop() {
					// Plain strace is there to be compared with, and takes minutes: once will do.
					if kind.tracer == "" && with.wall < time.Hour {
						continue
					}
					without = without.least(took(b, back, "", "", command...))
					if kind.tracer != "" {
						with = with.least(took(b, back, kind.tracer, kind.set, command...))
						continue
					}
					out, err := exec.Command("strace", append([]string{"-f", "-o", "/dev/null"}, command...)...).Output()
					if err != nil {
						b.Fatal(err)
					}
					with = with.least(costOf(b, string(out)))
				}
				b.ReportMetric(float64(with.wall)/float64(without.wall), "x")
				b.ReportMetric(float64(with.cpu)/float64(without.cpu), "cpu-x")
			})
		}
	}
}
