//go:build linux && e2e

package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/local"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tracetest"
)

// tableEnv asks for every case, and for a table of them in the file that it names.
const tableEnv = "COALMINE_TABLE"

// families are the parts of testdata/families.c, and the set of calls that shows them.
var families = []string{
	"open", "names", "attributes", "directories", "inet", "inet6", "unix", "families", "tasks", "exec", "signals",
	"intrusion", "memory", "bytes", "32bit",
}

// places are the backends in which the tracers are compared.
func places(t *testing.T) map[string]sandbox.Backend {
	t.Helper()
	sandboxtest.Need(t, "strace", "gcc", "userns")
	out := map[string]sandbox.Backend{"local": local.New()}
	if os.Getenv(tableEnv) != "" {
		sandboxtest.Need(t, "docker")
		out["docker"] = docker.New("")
	}
	return out
}

// program compiles one of the fixtures, without a library that an image may lack.
func program(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fixture")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, name)
	source := filepath.Join(sandboxtest.ModuleRoot(t), "sandbox", "trace", "tracetest", "testdata", name+".c")
	if out, err := exec.Command("gcc", "-static", "-pthread", "-O1", "-w", "-o", bin, source).CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", name, err, out)
	}
	return bin
}

const theSecret = "/home/dev/.ssh/id_rsa"

// watchedRun runs a fixture in a sandbox to its end.
func watchedRun(t *testing.T, b sandbox.Backend, tracer, set string, command ...string) (*sandboxtest.Recorder, uint64, sandbox.Exit) {
	t.Helper()
	s := spec(command...)
	s.Tracer, s.TraceSet, s.ServerDir, s.RunID = tracer, set, filepath.Dir(command[0]), "tracers"
	s.Files = []rootfs.File{
		{Path: filepath.Dir(theSecret), Dir: true, Mode: 0o700}, {Path: theSecret, Mode: 0o600, Data: []byte("Secret\n")},
	}
	s.Limits = agent.Limits{Pids: 256, Wall: time.Minute}
	run := start(t, b, s)
	exit, err := run.Wait(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Close(bounded(t)); err != nil {
		t.Error(err)
	}
	return run.Recorder, run.Lost(), exit
}

func values(records []*trace.Record) []trace.Record {
	out := make([]trace.Record, len(records))
	for i, r := range records {
		out[i] = *r
	}
	return out
}

// table is what the cases came to.
type table struct{ lines []string }

func (tb *table) say(ok bool, format string, a ...any) {
	verdict := "no "
	if ok {
		verdict = "yes"
	}
	tb.lines = append(tb.lines, verdict+" "+fmt.Sprintf(format, a...))
}

// write puts the table where it was asked for; the last line counts.
func (tb *table) write(t *testing.T, name string) {
	t.Helper()
	file := os.Getenv(tableEnv)
	if file == "" {
		return
	}
	good := 0
	for _, l := range tb.lines {
		if strings.HasPrefix(l, "yes") {
			good++
		}
	}
	slices.SortStableFunc(tb.lines, func(a, b string) int { return strings.Compare(a[4:], b[4:]) })
	text := strings.Join(tb.lines, "\n") + fmt.Sprintf("\n%s: %d/%d\n", name, good, len(tb.lines))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}

// The same program yields the same records under both tracers, in each backend
// and in both sets of calls.
func TestParity(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "bpf")
	bin := program(t, "families")
	var tb table
	for place, b := range places(t) {
		for i, family := range families {
			if os.Getenv(tableEnv) == "" && i%4 != 0 {
				continue
			}
			set := "core"
			if family == "bytes" || family == "memory" || family == "inet6" {
				set = "io"
			}
			t.Run(place+"/"+family, func(t *testing.T) {
				one, lostOne, _ := watchedRun(t, b, sandbox.TracerStrace, set, bin, family, "/home/dev")
				two, lostTwo, _ := watchedRun(t, b, sandbox.TracerEBPF, set, bin, family, "/home/dev")
				common, err := tracetest.Common(values(two.Records()))
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(refusedCalls(one), refusedCalls(two)); diff != "" {
					t.Errorf("refused calls: -strace +eBPF\n%s", diff)
				}
				diff := tracetest.Diff(values(one.Records()), common, nil, nil)
				if diff != "" {
					t.Errorf("-strace +eBPF\n%s", diff)
				}
				if lostOne+lostTwo > 0 {
					t.Errorf("lost %d under strace, %d under eBPF: %v %v", lostOne, lostTwo, one.TraceErrors(), two.TraceErrors())
				}
				tb.say(!t.Failed(), "%-7s %-12s %-4s %5d records", place, family, set, len(two.Records()))
			})
		}
	}
	tb.write(t, "parity")
}
