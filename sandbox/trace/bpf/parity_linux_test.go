//go:build linux && (amd64 || arm64) && e2e

package bpf

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tracetest"
)

// straced watches a command with strace.
func straced(t testing.TB, set string, command ...string) []trace.Record {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command("strace", append(strace.Args(set, log), command...)...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	_ = cmd.Run()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var out []trace.Record
	p := strace.NewParser(0, func(r *trace.Record) {
		c := *r
		c.Argv = append([]string(nil), r.Argv...)
		if r.Addr != nil {
			a := *r.Addr
			c.Addr = &a
		}
		out = append(out, c)
	}, func(line []byte, err error) { t.Logf("strace: %v: %s", err, line) })
	p.SetDir("/")
	_, _ = p.Write(data)
	_ = p.Close()
	return out
}

// compareRuns has both tracers watch a program, each in a directory of its own.
func compareRuns(t *testing.T, o Options, command func(dir string) []string, lost func(trace.Record) bool) {
	t.Helper()
	one, two := t.TempDir(), t.TempDir()
	a := runWith(t, o, command(one)...)
	b := straced(t, o.Set, command(two)...)
	if len(a.lost) > 0 {
		t.Error(a.lost)
	}
	if lost != nil {
		i := slices.IndexFunc(a.records, lost)
		a.records = slices.Delete(a.records, i, i+1)
		for i := range a.records {
			a.records[i].Seq = uint64(i + 1)
		}
	}
	common, err := tracetest.Common(a.records)
	if err != nil {
		t.Error(err)
	}
	if diff := tracetest.Diff(b, common, []string{two, "/T"}, []string{one, "/T"}); diff != "" {
		t.Errorf("%+v: -strace +eBPF\n%s", o, diff)
	}
}

func TestSame(t *testing.T) {
	slots.Acquire(t, 1)
	calls, odd := compile(t, "calls"), compile(t, "odd", "-pthread")
	for name, o := range map[string]Options{Core: {Set: Core}, Looks: {Set: Looks}, IO: {Set: IO}, "io, older kernel": {Set: IO, older: true}} {
		t.Run(name, func(t *testing.T) {
			compareRuns(t, o, func(dir string) []string { return []string{calls, dir} }, nil)
		})
	}
	for part, lost := range map[string]func(trace.Record) bool{
		"32-bit": nil, "clone3": nil, "pid-namespace": nil,
		// strace is known to lose the call after a thread's exec; eBPF has it.
		"thread-exec": func(r trace.Record) bool { return r.Path == "/etc/ld.so.preload" && r.Seq > 5 },
	} {
		t.Run(part, func(t *testing.T) {
			compareRuns(t, Options{Set: Core}, func(string) []string { return []string{odd, part} }, lost)
		})
	}
}
