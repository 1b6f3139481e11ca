//go:build linux && e2e

package sandbox_test

import (
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/local"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A target that makes more calls than can be read is seen whole, or what is
// missing is counted.
func TestStormIsSeenOrCounted(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Storm)
	sandboxtest.Need(t, "bpf", "gcc", "userns")
	bin := program(t, "families")
	t0 := time.Now()
	rec, lost, _ := watchedRun(t, local.New(), sandbox.TracerEBPF, "core", bin, "storm", "/home/dev")
	seen := uint64(0)
	for _, r := range rec.Records() {
		if r.Call == "access" && r.Path == "/storm" {
			seen++
		}
	}
	t.Logf("%d of 600000 calls seen, %d lost, in %v", seen, lost, time.Since(t0))
	if seen+lost < 600_000 {
		t.Errorf("%d of 600000 calls seen and %d told as lost", seen, lost)
	}
}

// A tracer that is taken away ends the run, as one that was not watched.
func TestDetachedTracerEndsTheRun(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Storm)
	sandboxtest.Need(t, "bpf", "userns")
	s := shell("read x; read y; sleep 60")
	s.TraceSet, s.Tracer = "core", sandbox.TracerEBPF
	run := start(t, bare(t), s)
	if err := run.Sync(bounded(t)); err != nil {
		t.Fatal(err)
	}
	sandbox.DetachTracer(run.Run)
	if err := run.Sync(bounded(t)); err != nil {
		t.Fatal(err)
	}
	exit, err := run.Wait(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if !exit.TracerDied || exit.Reason == "" || len(sandboxtest.EventsOf[session.EventTracerDied](run.Recorder)) != 1 {
		t.Errorf("exit %+v, events %+v", exit, run.Events())
	}
}
