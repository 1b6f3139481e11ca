package run

import (
	"context"
	"errors"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// maxHelperErr bounds what the log keeps of a helper's stderr, in bytes.
const maxHelperErr = 1 << 20

// helper is the work of a program that serves the probe: it runs until it ends by itself. What it
// prints on stdout may be large, and goes to the sink alone.
type helper struct {
	sink    sandbox.Sink
	connect func(*sandbox.Spec)
}

func (h *helper) prepare(_ context.Context, s *Session, spec *sandbox.Spec) (sandbox.Sink, error) {
	if h.connect != nil {
		h.connect(spec)
	}
	s.rec.client = noClient()
	if h.sink == nil {
		h.sink = sandbox.NopSink{}
	}
	return &helperSink{recorder: s.rec, sink: h.sink, left: maxHelperErr}, nil
}

func (h *helper) do(ctx context.Context, s *Session) (err error) {
	_ = s.sandbox.CloseStdin()
	s.seen.Exit, err = s.sandbox.Wait(ctx)
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return errors.Join(err, s.sandbox.Close(closeCtx))
}

func (h *helper) close() error { return nil }

// helperSink is a recorder that shares what a helper prints and does with a sink.
type helperSink struct {
	*recorder
	sink sandbox.Sink
	left int
}

// Stdout implements sandbox.Sink.
func (h *helperSink) Stdout(stamp time.Duration, p []byte) { h.sink.Stdout(stamp, p) }

// Stderr implements sandbox.Sink.
func (h *helperSink) Stderr(stamp time.Duration, p []byte) {
	kept := p[:min(len(p), h.left)]
	h.left -= len(kept)
	h.recorder.Stderr(stamp, kept)
	h.sink.Stderr(stamp, p)
}

// Record implements sandbox.Sink.
func (h *helperSink) Record(r *trace.Record) {
	h.recorder.Record(r)
	h.sink.Record(r)
}
