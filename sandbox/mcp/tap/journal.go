package tap

import (
	"bytes"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxJournal bounds the bytes of frames that wait to be written.
const maxJournal = 32 << 20

// Journal writes frames to their logs beside the way of what crosses: Put never
// waits, and what finds no room is dropped and counted in its log.
type Journal struct {
	mu     sync.Mutex
	items  []entry
	held   int64
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

type entry struct {
	log   *session.WireLog
	frame session.WireFrame
	after func()
}

// NewJournal starts a journal. Close ends it.
func NewJournal() *Journal {
	j := &Journal{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go j.run()
	return j
}

// Put queues a copy of a frame for a log.
func (j *Journal) Put(log *session.WireLog, f session.WireFrame) {
	j.mu.Lock()
	full := j.closed || j.held > 0 && j.held+int64(len(f.Raw)) > maxJournal
	if !full {
		f.Raw = bytes.Clone(f.Raw)
		j.held += int64(len(f.Raw))
		j.items = append(j.items, entry{log: log, frame: f})
	}
	j.mu.Unlock()
	if full {
		log.Drop(1)
		return
	}
	j.kick()
}

// After runs f behind all that was put before.
func (j *Journal) After(f func()) {
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.items = append(j.items, entry{after: f})
	}
	j.mu.Unlock()
	if closed {
		f()
		return
	}
	j.kick()
}

func (j *Journal) kick() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// Close waits, at most five seconds, until all is written.
func (j *Journal) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.kick()
	timeout := time.NewTimer(drainTimeout)
	defer timeout.Stop()
	select {
	case <-j.done:
	case <-timeout.C:
	}
}

func (j *Journal) run() {
	defer close(j.done)
	for range j.wake {
		j.mu.Lock()
		batch, closed := j.items, j.closed
		j.items = nil
		j.mu.Unlock()
		for _, e := range batch {
			if e.after != nil {
				e.after()
				continue
			}
			e.log.Frame(e.frame)
			j.mu.Lock()
			j.held -= int64(len(e.frame.Raw))
			j.mu.Unlock()
		}
		if closed {
			return
		}
	}
}
