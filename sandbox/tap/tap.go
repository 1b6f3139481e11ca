package tap

import (
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/wire"
)

// Recorder takes the bytes of both directions in the order in which each crossed.
type Recorder interface {
	// Bytes is called with each chunk; p is valid until it returns.
	Bytes(d session.Dir, stamp time.Duration, p []byte)
	// End says that the direction's stream ended.
	End(d session.Dir, stamp time.Duration)
}

// Tap is a Recorder that cuts lines and hands each to a log first, to a listener second.
type Tap struct{}

// New returns a Tap for lines of at most max bytes (wire.MaxLine if not positive).
// Of a longer line, log gets a bounded head.
func New(log func(d session.Dir, stamp time.Duration, raw []byte), max int) *Tap { return &Tap{} }

// OnLine sets the listener that gets each line after the log had it. Set it before the first byte.
func (t *Tap) OnLine(f func(d session.Dir, stamp time.Duration, l wire.Line)) {}

// Bytes implements Recorder.
func (t *Tap) Bytes(d session.Dir, stamp time.Duration, p []byte) {}

// End implements Recorder: an unfinished last line is recorded as it stands.
func (t *Tap) End(d session.Dir, stamp time.Duration) {}
