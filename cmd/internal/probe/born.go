package probe

import (
	"context"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	// bornQuiet without a system call, and what still runs is a part of the server.
	bornQuiet = time.Second
	// bornWait bounds how long calls wait for what the server started.
	bornWait = 10 * time.Second
)

// born are the programs that a server started beside itself: update checks and
// the like begin before the first call, and would be taken for that call's work.
type born struct {
	mu      sync.Mutex
	first   int // the server's own
	running map[int]bool
	moved   time.Time
}

func (b *born) record(r *trace.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moved = time.Now()
	switch {
	case r.Op == trace.OpExec && r.OK() && b.first == 0:
		b.first, b.running = r.Tid, map[int]bool{}
	case r.Op == trace.OpExec && r.OK() && r.Tid != b.first && len(b.running) < maxBorn:
		b.running[r.Tid] = true
	case r.Op == trace.OpExit:
		delete(b.running, r.Tid)
	}
}

// maxBorn bounds what a server that starts without end makes the host hold.
const maxBorn = 1000

// await returns when all of them have ended, or rest, or have had their time, of
// which a share may be had.
func (b *born) await(ctx context.Context, share time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, min(share, bornWait))
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		b.mu.Lock()
		busy := len(b.running) > 0 && time.Since(b.moved) < bornQuiet
		b.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}
