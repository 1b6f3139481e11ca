package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Follower reads a log that is still written, each line once. It is not safe for
// concurrent use; the Log that writes the files may go on meanwhile.
type Follower struct {
	files [2]io.Closer
	trace *lines
	pair  pairing
	begun bool // the header was passed
}

// Follow starts to read the log at its beginning. The caller closes the Follower.
func (r *Reader) Follow() (*Follower, error) {
	trace, err := OpenFile(r.dir, TraceFile)
	if err != nil {
		return nil, fmt.Errorf("run's log: %w", err)
	}
	frames, err := OpenFile(r.dir, FramesFile)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run's log: %w", err), trace.Close())
	}
	f := &Follower{files: [2]io.Closer{trace, frames}, trace: newLines(trace), pair: pairing{reader: r, frames: NewScanner(frames), growing: true}}
	f.trace.growing, f.pair.frames.lines.growing = true, true
	return f, nil
}

// Scanner reads the log's session.jsonl: it is for who wants a frame's envelope.
func (f *Follower) Scanner() *Scanner { return f.pair.frames }

// More streams what was written since the last time, as Reader.All does. A line that
// has no end yet, and the mark of a frame that is not there yet, come the next time.
// The sequence has to be read to its end.
func (f *Follower) More() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		p := &f.pair
		p.yield = yield
		if waiting := p.waiting; waiting.Mark != nil {
			p.waiting = Line{}
			if !p.line(waiting, nil) {
				return
			}
		}
		for {
			text, err := f.trace.next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.Is(err, errLong):
			case err != nil:
				yield(Entry{}, fmt.Errorf("%s: %w", TraceFile, err))
				return
			case !f.begun:
				f.begun = true
				continue
			case len(bytes.TrimSpace(text)) == 0:
				continue
			}
			var line Line
			if err == nil {
				line, err = parseLine(text)
			}
			if err != nil {
				err = fmt.Errorf("%s: line %d: %w", TraceFile, f.trace.n, err)
			}
			if !p.line(line, err) {
				return
			}
		}
	}
}

// Close closes the files.
func (f *Follower) Close() error { return errors.Join(f.files[0].Close(), f.files[1].Close()) }
