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

// work are what the tracers' cost is measured by, and the most that each may cost
// as a ratio to the untraced run; 0 is no bound.
var work = []struct {
	name         string
	needs        string
	args         []string
	strace, ebpf float64
}{
	{"calls", "", []string{"calls"}, 2, 2.2},
	{"node", "node", []string{"run", "node", "-e", "0"}, 1.2, 1.05},
	{"python", "python3", []string{"run", "python3", "-c", "0"}, 1.5, 1.05},
	{"spawns", "", []string{"spawns", "true"}, 2.2, 1.05},
	{"opens", "", []string{"opens"}, 0, 1.5},
}

// took runs the work in a bare sandbox and returns how long it says it took.
func took(b *testing.B, back sandboxtest.Bare, tracer, set string, command ...string) time.Duration {
	b.Helper()
	s := spec(command...)
	s.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	s.Tracer, s.TraceSet = tracer, set
	run := start(b, back, s)
	run.ends(b)
	if run.Lost() > 0 {
		b.Logf("%d lost", run.Lost())
	}
	return nanoseconds(b, run.Out())
}

func nanoseconds(b *testing.B, out string) time.Duration {
	b.Helper()
	var n time.Duration
	if _, err := fmt.Sscan(strings.TrimSpace(out), &n); err != nil {
		b.Fatalf("the work did not end well: %q", out)
	}
	return n
}

// BenchmarkTracers gives each tracer's cost as a ratio to the untraced run of the same
// work beside it ("x"), and the bound ("bound-x").
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
			bound             float64
		}{
			{"strace-core", sandbox.TracerStrace, "core", w.strace}, {"strace-io", sandbox.TracerStrace, "io", 0},
			{"ebpf", sandbox.TracerEBPF, "core", w.ebpf}, {"plain-strace-f", "", "", 0},
		} {
			b.Run(w.name+"/"+kind.name, func(b *testing.B) {
				back := bare(b)
				if kind.tracer == sandbox.TracerStrace {
					back.Strace = tracer(b)
				}
				// The least of each: whatever else the machine does only adds.
				with, without := time.Hour, time.Hour
				for b.Loop() {
					without = min(without, took(b, back, "", "", command...))
					if kind.tracer != "" {
						with = min(with, took(b, back, kind.tracer, kind.set, command...))
						continue
					}
					out, err := exec.Command("strace", append([]string{"-f", "-o", "/dev/null"}, command...)...).Output()
					if err != nil {
						b.Fatal(err)
					}
					with = min(with, nanoseconds(b, string(out)))
				}
				b.ReportMetric(float64(with)/float64(without), "x")
				if kind.bound > 0 {
					b.ReportMetric(kind.bound, "bound-x")
				}
			})
		}
	}
}
