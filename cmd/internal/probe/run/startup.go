package run

import (
	"context"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	// startupQuiet without a system call, and what still runs is a part of the server.
	startupQuiet = time.Second
	// startupWait bounds how long calls wait for what the server started.
	startupWait = 10 * time.Second
)

// startup are the programs that a server started beside itself: update checks and
// the like begin before the first call, and would be taken for that call's work.
type startup struct {
	mu      sync.Mutex
	first   int // the server's own
	running map[int]bool
	moved   time.Time
}

func (b *startup) record(r *trace.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moved = time.Now()
	switch {
	case r.Op == trace.OpExec && r.OK() && b.first == 0:
		b.first, b.running = r.Tid, map[int]bool{}
	case r.Op == trace.OpExec && r.OK() && r.Tid != b.first && len(b.running) < maxStartup:
		b.running[r.Tid] = true
	case r.Op == trace.OpExit:
		delete(b.running, r.Tid)
	}
}

// maxStartup bounds what a server that starts without end makes the host hold.
const maxStartup = 1000

// await returns when all of them have ended, or rest, or have had their time, of
// which a share may be had.
func (b *startup) await(ctx context.Context, share time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, min(share, startupWait))
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		b.mu.Lock()
		busy := len(b.running) > 0 && time.Since(b.moved) < startupQuiet
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

// preload is a library that a program must load, and met says that it did.
type preload struct {
	name string
	met  bool
}

// preloadMissed reports whether the server did not load what it was to load.
func (r *recorder) preloadMissed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.preload.name != "" && !r.preload.met
}

func (a *preload) record(r *trace.Record) {
	a.met = a.met || a.name != "" && r.Op == trace.OpOpen && r.OK() && r.Path == a.name
}
