//go:build linux && e2e

package sweep

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/queue"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// everyday writes a list of n servers that answer: the honest twin in three languages.
func (m *machine) everyday(n int) string {
	m.t.Helper()
	root := sandboxtest.ModuleRoot(m.t)
	var kinds []string
	for _, k := range []struct{ interpreter, file string }{{"", "bin/honest"}, {"python3 ", "testdata/servers/honest/honest.py"}, {"node ", "testdata/servers/honest/honest.mjs"}} {
		data, err := os.ReadFile(filepath.Join(root, k.file))
		if err != nil {
			m.t.Skipf("make build first: %v", err)
		}
		kinds = append(kinds, k.interpreter+m.write(filepath.Base(k.file), string(data)))
	}
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s --as %d", kinds[i%len(kinds)], i))
	}
	return list(m.t, m.dir, lines...)
}

// on is a command of the program on some of the processors that this process may use.
func (m *machine) on(processors int, args ...string) *exec.Cmd {
	m.t.Helper()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		m.t.Fatal(err)
	}
	var some []string
	for i := 0; len(some) < processors; i++ {
		if i == len(all)*64 {
			m.t.Skipf("this machine has less than %d processors", processors)
		}
		if all.IsSet(i) {
			some = append(some, fmt.Sprint(i))
		}
	}
	cmd := m.command(args...)
	cmd.Args = append([]string{"taskset", "-c", strings.Join(some, ","), cmd.Path}, cmd.Args[1:]...)
	var err error
	if cmd.Path, err = exec.LookPath("taskset"); err != nil {
		m.t.Skip(err)
	}
	return cmd
}

// takes is how long a sweep takes, whose counts have to be these.
func (m *machine) takes(counts string, processors int, args ...string) time.Duration {
	m.t.Helper()
	start := time.Now()
	out, err := m.on(processors, append([]string{"sweep", "--quiet", "--sandbox", "local"}, args...)...).CombinedOutput()
	if !strings.Contains(string(out), counts) {
		m.t.Fatalf("%s\n%v: no %q", out, err, counts)
	}
	return time.Since(start)
}

// BenchmarkSweep sweeps honest servers with the program that make builds: with one worker
// on one processor, with two on two, unchanged, and under newer rules. Each figure is of the
// least times of all rounds. What a server costs is the time of a sweep less that of one with
// nothing to do.
func BenchmarkSweep(b *testing.B) {
	sandboxtest.Need(b, "userns", "python3", "node")
	const n = 6
	m := &machine{t: b, program: filepath.Join(sandboxtest.ModuleRoot(b), "bin", "coalmine"), dir: b.TempDir()}
	registry := m.everyday(n)
	const forever = time.Duration(1<<63 - 1)
	one, two, nothing, judged := forever, forever, forever, forever
	for i := range b.N {
		args := func(workers int, more ...string) []string {
			place := filepath.Join(m.dir, fmt.Sprint("store", workers, i))
			return append([]string{"--registry", registry, "--store", place, "--workers", fmt.Sprint(workers)}, more...)
		}
		run := fmt.Sprintf("%d jobs, %[1]d run", n)
		one = min(one, m.takes(run, 1, args(1)...))
		two = min(two, m.takes(run, 2, args(2)...))
		nothing = min(nothing, m.takes(fmt.Sprintf("%d unchanged", n), 1, args(1)...))
		judged = min(judged, m.takes(fmt.Sprintf("%d judged again", n), 1, args(1, "--fail-on", "medium")...))
	}
	b.ReportMetric(n/(two-nothing).Hours(), "servers/h")
	b.ReportMetric((one-nothing).Seconds()/(two-nothing).Seconds(), "speedup")
	b.ReportMetric((one-nothing).Seconds()/max(judged-nothing, time.Millisecond).Seconds(), "judged-x")
}

// BenchmarkSkip sweeps servers of which nothing changed: what each costs of a processor,
// whatever else the machine does.
func BenchmarkSkip(b *testing.B) {
	const n = 10_000
	dir := b.TempDir()
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("npm:server-%d@1.0.0", i))
	}
	o := Options{Dir: dir, Rules: "r", Settings: "s", Source: list(b, dir, lines...), Exit: func(*analyze.Result) int { return 0 }}
	var err error
	if o.Store, err = store.Open(b.Context(), dir); err != nil {
		b.Fatal(err)
	}
	defer o.Store.Close()
	if o.Queue, err = queue.Open(b.Context(), queue.Options{Dir: filepath.Join(dir, "queue"), Settings: "s"}); err != nil {
		b.Fatal(err)
	}
	defer o.Queue.Close()
	keepClean(b, &o)
	began := cputime.Used(b)
	for b.Loop() {
		_, p, status, err := Run(b.Context(), o)
		if err != nil || p.Skipped != n || status != 0 {
			b.Fatalf("%+v, status %d, %v", p, status, err)
		}
	}
	b.ReportMetric((cputime.Used(b)-began).Seconds()*1e3/float64(n*b.N), "cpu-ms/server")
}

// keepClean keeps a clean result of each target, as an earlier sweep would have.
func keepClean(b *testing.B, o *Options) {
	b.Helper()
	targets, err := listing.Read(b.Context(), o.Source, listing.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var jobs []store.Job
	for _, t := range targets.Targets {
		jobs = append(jobs, store.Job{Name: jobName(&t), Target: t})
	}
	w := &store.Sweep{Name: "before", Source: o.Source, Rules: o.Rules, Settings: o.Settings, Started: time.Now()}
	if err := o.Store.Begin(b.Context(), w, jobs, nil); err != nil {
		b.Fatal(err)
	}
	for _, j := range jobs {
		r := &store.Result{Key: j.Target.Key, Version: j.Target.Version, Digest: j.Target.Digest(), Rules: o.Rules, Settings: o.Settings, Verdict: "clean"}
		if _, err := o.Store.Record(b.Context(), w.ID, j.Name, store.HowRun, r); err != nil {
			b.Fatal(err)
		}
	}
	if err := o.Store.Finish(b.Context(), w.ID, time.Now()); err != nil {
		b.Fatal(err)
	}
}
