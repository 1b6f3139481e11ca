package sandbox

import (
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// NopSink is a Sink that takes everything and keeps nothing. Embedded, it leaves to
// its owner only what that wants.
type NopSink struct{}

// Stdout implements Sink.
func (NopSink) Stdout(time.Duration, []byte) {}

// Stderr implements Sink.
func (NopSink) Stderr(time.Duration, []byte) {}

// Record implements Sink.
func (NopSink) Record(*trace.Record) {}

// Flow implements Sink.
func (NopSink) Flow(*trace.Flow) {}

// Event implements Sink.
func (NopSink) Event(session.Event) {}

// TraceError implements Sink.
func (NopSink) TraceError(error) {}
