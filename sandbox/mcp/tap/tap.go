package tap

import (
	"fmt"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Recorder takes the bytes of both directions, each in its own order.
type Recorder interface {
	// Bytes is called with each chunk; p is valid until it returns.
	Bytes(d session.Dir, stamp time.Duration, p []byte)
	// Lost says that n bytes of the direction are missing here.
	Lost(d session.Dir, stamp time.Duration, n int64)
	// End says that the direction's stream ended.
	End(d session.Dir, stamp time.Duration)
}

// Tap is a Recorder that cuts lines and hands each to a log. The two directions may be fed by two goroutines.
type Tap struct {
	log      func(d session.Dir, stamp time.Duration, raw []byte)
	c2s, s2c side
}

type side struct {
	mu    sync.Mutex
	lines *wire.Splitter
}

// New returns a Tap for lines of at most max bytes (wire.MaxLine if not
// positive). Of a longer line the log gets a head that says how long it was,
// which makes it no JSON whatever it began with.
func New(log func(d session.Dir, stamp time.Duration, raw []byte), max int) *Tap {
	return &Tap{log: log, c2s: side{lines: wire.NewSplitter(max)}, s2c: side{lines: wire.NewSplitter(max)}}
}

// Bytes implements Recorder. A line bears the stamp of the chunk that ended it.
func (t *Tap) Bytes(d session.Dir, stamp time.Duration, p []byte) {
	s := t.side(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.Feed(p, func(l wire.Line) { t.line(d, stamp, l) })
}

// Lost implements Recorder: recording goes on at the next whole line.
func (t *Tap) Lost(d session.Dir, _ time.Duration, _ int64) {
	s := t.side(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.Gap()
}

// End implements Recorder: an unfinished last line is recorded as it stands.
func (t *Tap) End(d session.Dir, stamp time.Duration) {
	s := t.side(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.Flush(func(l wire.Line) { t.line(d, stamp, l) })
}

func (t *Tap) side(d session.Dir) *side {
	if d == session.C2S {
		return &t.c2s
	}
	return &t.s2c
}

func (t *Tap) line(d session.Dir, stamp time.Duration, l wire.Line) {
	raw := l.Raw
	if l.Oversize {
		raw = fmt.Appendf(nil, "%s… [cut: the line has %d bytes]", raw, l.Len)
	}
	t.log(d, stamp, raw)
}
