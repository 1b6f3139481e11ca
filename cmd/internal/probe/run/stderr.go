package run

import (
	"bytes"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxHeld bounds, in bytes, how much of a line waits for the rest of it, and keptHeld
// is how much goes on waiting when there is more: longer values are told in parts.
const (
	maxHeld  = 32 << 10
	keptHeld = 16 << 10
)

// Stderr implements sandbox.Sink. A passed value may come in pieces: where there are
// any, a line waits for its end, since only whole lines can be searched.
func (r *recorder) Stderr(stamp time.Duration, p []byte) {
	if r.out.Redactor != nil {
		r.mu.Lock()
		p = slices.Concat(r.held, p)
		whole := bytes.LastIndexByte(p, '\n') + 1
		if len(p)-whole > maxHeld {
			p = []byte(r.out.Redactor.Redact(string(p)))
			whole = max(0, len(p)-keptHeld)
		}
		r.held = slices.Clone(p[whole:])
		p = p[:whole]
		r.mu.Unlock()
	}
	r.printed(stamp, p)
}

// printed logs what the server printed.
func (r *recorder) printed(stamp time.Duration, p []byte) {
	if len(p) == 0 {
		return
	}
	m := session.Mark{Time: stamp, Kind: session.MarkStderr}
	if utf8.Valid(p) {
		m.Text = string(p)
	} else {
		m.Data = slices.Clone(p)
	}
	r.mark(m)
}
