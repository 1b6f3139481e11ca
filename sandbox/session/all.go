package session

import (
	"errors"
	"io"
	"iter"
)

// Entry is one step through both files of a log: a line of trace.jsonl, a frame of
// session.jsonl, or a frame beside the mark that says when it crossed.
type Entry struct {
	Line
	// Frame is valid until the next entry, nil for a line without one.
	Frame *Frame
	// Damage is a line of session.jsonl that is no frame, nil for none.
	Damage *LineError
}

// All streams both files in one pass each and in bounded memory: trace.jsonl after
// its header, and frames, which reads session.jsonl, each frame with its own mark.
// A frame without a mark comes before the first mark of a later one, or at the end.
// An error belongs to a line of the trace, as in Trace. Frames may be nil for none.
//
// Log writes a frame and its mark at once, so that both files have them in the same
// order; in a log that was tampered with, a frame may come later than its mark.
func (r *Reader) All(frames *Scanner) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		p := pairing{reader: r, frames: frames, yield: yield}
		for line, err := range r.Trace() {
			if !p.line(line, err) {
				return
			}
		}
		for p.next() {
			if !p.alone() {
				return
			}
		}
	}
}

// pairing finds the frames of marks.
type pairing struct {
	reader *Reader
	frames *Scanner // nil behind the last frame
	yield  func(Entry, error) bool
	// ahead is what was read of the frames and not handed on.
	ahead Entry
	// growing says that there may be more frames later; waiting is then the mark of one.
	growing bool
	waiting Line
}

// line hands on a line of the trace, and the frames that come before it or with it.
func (p *pairing) line(line Line, err error) bool {
	e := Entry{Line: line}
	if err == nil && line.Mark != nil && line.Mark.Kind == MarkFrame {
		for p.next() {
			f := p.ahead.Frame
			if f != nil && f.Seq == line.Mark.Seq {
				e.Frame, p.ahead = f, Entry{}
				break
			}
			if f != nil && f.Seq > line.Mark.Seq {
				break
			}
			if !p.alone() {
				return false
			}
		}
		if p.growing && e.Frame == nil && p.ahead.Frame == nil {
			p.waiting = line
			return false
		}
	}
	return p.yield(e, err)
}

// alone hands on what is ahead without a line of the trace.
func (p *pairing) alone() bool {
	e := p.ahead
	p.ahead = Entry{}
	return p.yield(e, nil)
}

// next sees to it that the next frame, or the next damage, is ahead; false is the end.
func (p *pairing) next() bool {
	if p.ahead.Frame != nil || p.ahead.Damage != nil {
		return true
	}
	if p.frames == nil {
		return false
	}
	f, err := timed(p.frames)
	var bad *LineError
	switch {
	case err == nil:
		f.Time = p.reader.onClock(f)
		p.ahead.Frame = f
		return true
	case errors.As(err, &bad):
		p.ahead.Damage = bad
		return true
	case errors.Is(err, io.EOF) && p.growing:
		return false
	case errors.Is(err, io.EOF):
		if p.frames.Torn {
			p.reader.torn.Store(true)
		}
		p.frames = nil
		return false
	}
	p.ahead.Damage = &LineError{Line: p.frames.Line(), Err: err}
	p.frames = nil // it can be read no further
	return true
}
