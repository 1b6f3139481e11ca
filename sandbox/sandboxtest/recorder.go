package sandboxtest

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Recorder is a sink that remembers everything and can be waited on.
type Recorder struct {
	mu      sync.Mutex
	changed chan struct{}
	stdout  bytes.Buffer
	stderr  bytes.Buffer
	records []*trace.Record
	events  []session.Event
	flows   []trace.Flow
	errors  []error
}

// NewRecorder returns an empty Recorder.
func NewRecorder() *Recorder { return &Recorder{changed: make(chan struct{})} }

func (r *Recorder) note(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	close(r.changed)
	r.changed = make(chan struct{})
}

// Stdout implements sandbox.Sink.
func (r *Recorder) Stdout(_ time.Duration, p []byte) { r.note(func() { r.stdout.Write(p) }) }

// Stderr implements sandbox.Sink.
func (r *Recorder) Stderr(_ time.Duration, p []byte) { r.note(func() { r.stderr.Write(p) }) }

// Record implements sandbox.Sink.
func (r *Recorder) Record(rec *trace.Record) {
	c := *rec
	c.Argv, c.Passed = slices.Clone(rec.Argv), slices.Clone(rec.Passed)
	if rec.Addr != nil {
		addr := *rec.Addr
		c.Addr = &addr
	}
	r.note(func() { r.records = append(r.records, &c) })
}

// Event implements sandbox.Sink.
func (r *Recorder) Event(e session.Event) { r.note(func() { r.events = append(r.events, e) }) }

// Flow implements sandbox.Sink.
func (r *Recorder) Flow(f *trace.Flow) {
	c := *f
	c.Data = slices.Clone(f.Data)
	r.note(func() { r.flows = append(r.flows, c) })
}

// Flows returns what the sinkhole saw so far.
func (r *Recorder) Flows() []trace.Flow {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.flows)
}

// TraceError implements sandbox.Sink.
func (r *Recorder) TraceError(err error) { r.note(func() { r.errors = append(r.errors, err) }) }

// Out returns what came on stdout so far.
func (r *Recorder) Out() string { r.mu.Lock(); defer r.mu.Unlock(); return r.stdout.String() }

// Err returns what came on stderr so far.
func (r *Recorder) Err() string { r.mu.Lock(); defer r.mu.Unlock(); return r.stderr.String() }

// Records returns the records so far.
func (r *Recorder) Records() []*trace.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// Events returns the events so far.
func (r *Recorder) Events() []session.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// EventsOf returns what the events of one type said so far.
func EventsOf[B session.Body](r *Recorder) []B {
	var out []B
	for _, e := range r.Events() {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// Troubles returns the events so far by which a run was not seen whole: losses,
// limits and the tracer's death.
func (r *Recorder) Troubles() []session.Event {
	return slices.DeleteFunc(r.Events(), func(e session.Event) bool {
		switch e.Body.(type) {
		case session.EventLoss, session.EventLimit, session.EventTracerDied:
			return false
		}
		return true
	})
}

// TraceErrors returns the lines of the tracer that were not understood.
func (r *Recorder) TraceErrors() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.errors)
}

// Until waits at most d for a condition on the Recorder to hold.
func (r *Recorder) Until(d time.Duration, ok func() bool) bool {
	deadline := time.After(d)
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if ok() {
			return true
		}
		select {
		case <-changed:
		case <-deadline:
			return ok()
		}
	}
}
