package wirelog

import (
	"errors"
	"io"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Reader reads a log event by event. One goroutine uses it.
type Reader struct {
	*Decoder
	scanner *session.Scanner
}

// Stats count a log's lines.
type Stats struct {
	// Frames are lines that held JSON, Events the messages in them and the lines
	// that held none.
	Frames, Events int
	// Unreadable are lines of the log that are no frame: damage, not traffic.
	Unreadable int
	// FirstUnreadable says what was wrong with the first of them.
	FirstUnreadable string
	// Torn says that the log ended within a line.
	Torn bool
	// HeadMissing says that the log begins in the middle of a session.
	HeadMissing bool
	// Missing are frames that were counted and are not in the log: its tap had to
	// drop them, or somebody took them out.
	Missing int64
}

// NewReader reads from log, which it does not close.
func NewReader(log io.Reader) *Reader {
	return &Reader{Decoder: NewDecoder(), scanner: session.NewScanner(log)}
}

// Next is the next event, with State brought up to it; io.EOF at the end. Any
// other error ends the reading: lines that are no frames are counted and passed.
func (r *Reader) Next() (*Event, error) {
	for {
		if e := r.Decoder.Next(); e != nil {
			return e, nil
		}
		f, err := r.scanner.Next()
		if err == nil {
			r.Frame(f, r.scanner.Envelope(), r.scanner.Line())
		} else if err = r.passed(err); err != nil {
			return nil, err
		}
	}
}

// passed counts a line that is no frame, and returns any other error.
func (r *Reader) passed(err error) error {
	var bad *session.LineError
	switch {
	case errors.As(err, &bad):
		r.Damage(bad)
		return nil
	case errors.Is(err, io.EOF):
		r.End(r.scanner.Torn, r.scanner.Metrics)
		return io.EOF
	}
	return err
}
