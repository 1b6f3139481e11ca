//go:build linux && e2e

package sandbox_test

import (
	"fmt"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// tracers are the ways of watching a sandbox.
var tracers = []struct {
	tracer string
	single bool
}{{sandbox.TracerStrace, false}, {sandbox.TracerStrace, true}, {sandbox.TracerEBPF, false}, {sandbox.TracerEBPF, true}}

// The log begins with the target's own exec, whoever ran before it, and names
// every task as the tracer numbers it.
func TestRecordsBeginWithTheTarget(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	for _, c := range tracers {
		t.Run(fmt.Sprintf("%s/single=%t", c.tracer, c.single), func(t *testing.T) { recordsBegin(t, c.tracer, c.single) })
	}
}

func recordsBegin(t *testing.T, tracerName string, single bool) {
	t.Helper()
	b := bare(t)
	b.SingleUID = single
	s := shell("cd /usr; /bin/true; (cat /etc/hostname; exit 5) >/dev/null; read x; cat lib/os-release > /dev/null; echo read; read x")
	s.TraceSet, s.Tracer = "core", tracerName
	if tracerName == sandbox.TracerEBPF {
		sandboxtest.Need(t, "bpf")
	} else {
		b.Strace = tracer(t)
	}
	run := start(t, b, s)
	for range 2 {
		if err := run.Sync(bounded(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Stdin([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	run.sees(t, "the answer", func() bool { return run.Out() == "read\n" })
	if err := run.Sync(bounded(t)); err != nil {
		t.Fatal(err)
	}
	checkRecords(t, run)
	if err := run.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	run.ends(t)
	if run.Lost() != 0 || len(run.TraceErrors()) != 0 {
		t.Errorf("%d lost: %v", run.Lost(), run.TraceErrors())
	}
	last := run.Records()[len(run.Records())-1]
	if last.Op != trace.OpExit || last.Tid != sandboxtest.EventsOf[session.EventStarted](run.Recorder)[0].Task {
		t.Errorf("the last record is %+v", last)
	}
	checkLineage(t, run)
}

func checkRecords(t *testing.T, run alive) {
	t.Helper()
	records := run.Records()
	if len(records) == 0 {
		t.Fatal("no records")
	}
	first := records[0]
	if first.Op != trace.OpExec || first.Seq != 1 || first.Tid != sandboxtest.EventsOf[session.EventReady](run.Recorder)[0].Task || len(first.Argv) != 3 || first.Argv[0] != "sh" {
		t.Errorf("the first record is %+v", first)
	}
	var ready session.Event
	for _, e := range run.Events() {
		if _, ok := e.Body.(session.EventReady); ok {
			ready = e
		}
	}
	var read bool
	for i, r := range records {
		if r.Seq != uint64(i+1) {
			t.Fatalf("record %d has number %d", i, r.Seq)
		}
		if r.Time < ready.Stamp || r.Time > ready.Stamp+within {
			t.Errorf("record at %v, ready at %v: %+v", r.Time, ready.Stamp, r)
		}
		read = read || r.Op == trace.OpOpen && r.OK() && r.Path == "/usr/lib/os-release"
	}
	if !read {
		t.Error("the open before the answer is not among the records before the sync")
	}
}

// checkLineage finds each task's birth in the records.
func checkLineage(t *testing.T, run alive) {
	t.Helper()
	born := map[int]bool{run.Records()[0].Tid: true}
	for _, r := range run.Records() {
		if r.Op == trace.OpFork && r.OK() {
			born[r.Child] = true
		}
	}
	for _, r := range run.Records() {
		if !born[r.Tid] {
			t.Errorf("task %d was never born: %+v", r.Tid, r)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	for name, set := range map[string]string{"untraced": "", "traced": "core"} {
		for _, single := range []bool{false, true} {
			kind := name
			if single {
				kind += ",single"
			}
			b.Run(kind, func(b *testing.B) {
				back := bare(b)
				back.SingleUID, back.Strace = single, tracer(b)
				s := spec("true")
				s.TraceSet = set
				for b.Loop() {
					run := start(b, back, s)
					b.StopTimer()
					run.ends(b)
					b.StartTimer()
				}
			})
		}
	}
}

// BenchmarkCalls is a call of the fixture that makes 600,000 cheap system calls.
func BenchmarkCalls(b *testing.B) {
	for name, set := range map[string]string{"untraced": "", "traced": "core"} {
		b.Run(name, func(b *testing.B) {
			back := bare(b)
			back.Strace = tracer(b)
			s := hostile(b, "syscalls")
			s.TraceSet = set
			run := start(b, back, s)
			for b.Loop() {
				run.call(b, "work")
			}
		})
	}
}
