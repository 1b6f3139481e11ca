package fake

import (
	"context"
	"errors"
	"sync"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// loss is what a tracer missed.
type loss struct {
	n   uint64
	why string
}

// tracer keeps what a target does until it is asked for, so that the order in which the
// host takes records and frames is the same each time.
type tracer struct {
	mu      sync.Mutex
	emit    func(*trace.Record)
	lose    func(uint64, string)
	records []trace.Record
	losses  []loss
	died    string
}

// Start implements sandbox.Tracer.
func (t *tracer) Start(_ int, _ bool, emit func(*trace.Record), lose func(n uint64, why string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emit, t.lose = emit, lose
}

// Alive implements sandbox.Tracer.
func (t *tracer) Alive() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.died != "" {
		return errors.New(t.died)
	}
	return nil
}

// Drain implements sandbox.Tracer.
func (t *tracer) Drain(context.Context) error {
	t.mu.Lock()
	records, losses := t.records, t.losses
	t.records, t.losses = nil, nil
	t.mu.Unlock()
	for i := range records {
		t.emit(&records[i])
	}
	for _, l := range losses {
		t.lose(l.n, l.why)
	}
	return nil
}

// Close implements sandbox.Tracer.
func (t *tracer) Close() {}

func (t *tracer) add(r trace.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.records = append(t.records, r)
}

func (t *tracer) miss(n uint64, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.losses = append(t.losses, loss{n, why})
}

func (t *tracer) die(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.died = why
}
