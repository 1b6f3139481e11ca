package run

import (
	"context"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// What the server started holds the calls up while it works, and no longer.
func TestStartupIsAwaited(t *testing.T) {
	var b startup
	await := func() time.Duration {
		begun := time.Now()
		b.await(context.Background(), startupWait)
		return time.Since(begun)
	}
	b.record(&trace.Record{Op: trace.OpExec, Tid: 1})
	if d := await(); d > startupQuiet/2 {
		t.Errorf("waited %s for a server alone", d)
	}
	b.record(&trace.Record{Op: trace.OpExec, Tid: 2, Ret: -1, Err: "ENOENT"})
	if d := await(); d > startupQuiet/2 {
		t.Errorf("waited %s for what did not start", d)
	}
	b.record(&trace.Record{Op: trace.OpExec, Tid: 2})
	if d := await(); d < startupQuiet/2 {
		t.Errorf("waited %s for what may still work", d)
	}
	b.record(&trace.Record{Op: trace.OpExit, Tid: 2})
	if d := await(); d > startupQuiet/2 {
		t.Errorf("waited %s for what has ended", d)
	}
}
