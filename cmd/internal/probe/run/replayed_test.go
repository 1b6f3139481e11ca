package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan/plantest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/fake"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/synth"
)

// unplayable says why a kept run is not made again.
var unplayable = map[string]string{
	"local-ebpf-findings-configured":           "the server was never started",
	"local-ebpf-clean-web":                     "it was spoken to over a port",
	"local-ebpf-inconclusive-web-stdio-honest": "the same",
	"local-ebpf-clean-hints-py-idem":           "a step does not say which call it repeats, which CM213 asks for",
	"local-ebpf-findings-oracles-py-as":        "its client did not offer what today's does, so that asking for it was a finding",
	"local-ebpf-inconclusive-caller":           "its calls had three seconds each, and one was answered later",
}

// sample are runs of each backend, tracer and verdict, which are made again always.
var sample = []string{
	"docker-ebpf-inconclusive-hostile-mute-after-list-2", "docker-strace-clean-honest", "local-both-clean-honest", "local-ebpf-findings-hostile-escape",
	"local-ebpf-findings-leaky", "local-ebpf-findings-oracles-py-pa", "local-ebpf-inconclusive-caller-4", "local-ebpf-inconclusive-hostile-exit-early",
}

// recordings are the kept runs, by their names.
func recordings(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../../../testdata/runs/*.tar.gz")
	if err != nil || len(names) < 40 {
		t.Fatalf("%d kept runs: %v", len(names), err)
	}
	out := map[string]string{}
	for _, n := range names {
		out[strings.TrimSuffix(filepath.Base(n), ".tar.gz")] = n
	}
	return out
}

// verdict is what a judge finds in a run's log.
func verdict(t *testing.T, dir *os.Root) string {
	t.Helper()
	res, err := analyze.JudgeRun(dir, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{string(res.Verdict)}
	for _, f := range res.Findings {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", f.Rule, f.Severity, f.Tool, f.Fingerprint))
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}

// done counts what a log says that the server did, by its kind. Questions about files are no part,
// which not all versions keep, nor are signals: some come in listings that a replay leaves out.
func done(t *testing.T, dir *os.Root) string {
	t.Helper()
	r, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for line, err := range r.Trace() {
		switch {
		case err != nil:
			t.Fatal(err)
		case line.Record != nil && line.Record.Op != trace.OpStat && line.Record.Op != trace.OpKill:
			count[fmt.Sprintf("record %s %s %s", line.Record.Op, line.Record.Path, line.Record.Err)]++
		case line.Flow != nil:
			count["flow "+line.Flow.Type]++
		case line.Mark != nil && line.Mark.Kind == session.MarkEvent:
			count[fmt.Sprintf("event %T", line.Mark.Event.Body)]++
		}
	}
	var out []string
	for what, n := range count {
		out = append(out, fmt.Sprintf("%3d %s", n, what))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// A recorded run that is made again has the recorded verdict and fingerprints: the runner logs
// what a sandbox yields as it came, and the judge depends on nothing else.
func TestRecordedRuns(t *testing.T) {
	for name, archive := range recordings(t) {
		if !scale.Deep() && !slices.Contains(sample, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			analyzetest.UnpackRun(t, archive, dir)
			recorded, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer recorded.Close()
			log, err := session.Open(recorded)
			if err != nil {
				t.Fatal(err)
			}
			server, err := fake.Read(log)
			if _, out := unplayable[name]; out {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := verdict(t, recorded)
			var steps []synth.Step
			if replay, err := synth.Recorded(log); err == nil {
				steps = replay.Steps
			}
			bubbled(t, func(t *testing.T) {
				_, again, err := made(t.Context(), t, fake.Of(server.Target), plantest.Recorded(server.Header, steps))
				if err != nil {
					t.Fatal(err)
				}
				if got := verdict(t, again); got != want {
					t.Errorf("recorded:\n%s\nmade again:\n%s", want, got)
				}
				if diff := cmp.Diff(done(t, recorded), done(t, again)); diff != "" {
					t.Errorf("what the server did (-recorded +made again): %s", diff)
				}
			})
		})
	}
}
