package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync/atomic"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Frame is one line of session.jsonl.
type Frame struct {
	Seq uint64
	// TS is the wall clock.
	TS time.Time
	// Time is TS on the run's clock, to the microsecond; the mark of the same
	// Seq has it exactly. Without a header it is 0.
	Time time.Duration
	Dir  Dir
	// Message is the JSON value that crossed the wire, nil if the line was not JSON.
	Message json.RawMessage
	// Raw is the line as it crossed, nil when Message is set.
	Raw []byte
	// Gate and SSE are glassport's optional members, nil when absent.
	Gate json.RawMessage
	SSE  json.RawMessage
	// HTTP is glassport's observation of an HTTP exchange, nil when absent.
	HTTP json.RawMessage
}

// Bytes is the line: Message, else Raw.
func (f Frame) Bytes() []byte {
	if f.Message != nil {
		return f.Message
	}
	return f.Raw
}

// Line is one line of trace.jsonl after its header: exactly one member is set.
type Line struct {
	Record *trace.Record
	Mark   *Mark
	Flow   *trace.Flow
}

// recordLine is a record's line as it is read.
type recordLine struct {
	Type string `json:"type"`
	trace.Record
}

// flowLine is the line of what the sinkhole saw.
type flowLine struct {
	Type string `json:"type"`
	trace.Flow
}

// Reader reads a run's files, as often as is asked, in constant memory.
type Reader struct {
	Header Header
	// Dir is the run's directory below the target's, "" for the target's own. Who opens the
	// log of a further run sets it.
	Dir string
	// Timers and Recorded are those of the run's entry in the index, and set by the same.
	Timers, Recorded bool

	dir  *os.Root
	torn atomic.Bool
}

// Open reads the header of the run in dir. The Reader keeps dir but does not close it.
func Open(dir *os.Root) (*Reader, error) {
	r := &Reader{dir: dir}
	f, err := OpenFile(dir, TraceFile)
	if err != nil {
		return nil, fmt.Errorf("run's log: %w", err)
	}
	defer f.Close()
	lines := newLines(f)
	first, err := lines.next()
	if err != nil && !errors.Is(err, errTorn) {
		return nil, fmt.Errorf("run's log: %s has no header: %w", TraceFile, err)
	}
	var h headerLine
	if err := json.Unmarshal(first, &h); err != nil {
		return nil, fmt.Errorf("run's log: header of %s: %w", TraceFile, err)
	}
	if h.Type != "header" || h.Schema != Schema {
		return nil, fmt.Errorf("run's log: %s begins with type %.40q, schema %.40q; this version reads %q", TraceFile, h.Type, h.Schema, Schema)
	}
	r.Header = h.Header
	return r, nil
}

// Frames streams session.jsonl. A line that cannot be read yields an error that
// names it, and reading goes on behind it unless the file itself fails.
func (r *Reader) Frames() iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		f, err := OpenFile(r.dir, FramesFile)
		if err != nil {
			yield(Frame{}, fmt.Errorf("run's log: %w", err))
			return
		}
		defer f.Close()
		torn := false
		for f, err := range ReadFrames(f, &torn) {
			if err != nil {
				err = fmt.Errorf("%s: %w", FramesFile, err)
			} else {
				f.Time = r.onClock(&f)
			}
			if !yield(f, err) {
				return
			}
		}
		if torn {
			r.torn.Store(true)
		}
	}
}

// onClock is a frame's time on the run's clock.
func (r *Reader) onClock(f *Frame) time.Duration {
	return f.TS.Sub(r.Header.Started) + r.Header.Clock0
}

// Wire opens session.jsonl, for a Scanner. The caller closes it.
func (r *Reader) Wire() (io.ReadCloser, error) {
	f, err := OpenFile(r.dir, FramesFile)
	if err != nil {
		return nil, fmt.Errorf("run's log: %w", err)
	}
	return f, nil
}

// Trace streams trace.jsonl after its header, as Frames does.
func (r *Reader) Trace() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		header := true
		r.readTrace(func(err error) bool { return yield(Line{}, err) }, func(line []byte) (bool, error) {
			if header {
				header = false
				return true, nil
			}
			l, err := parseLine(line)
			if err != nil {
				return true, err
			}
			return yield(l, nil), nil
		})
	}
}

// Torn reports whether a file ended within a line when it was last read.
func (r *Reader) Torn() bool { return r.torn.Load() }

// errNoTime says that a frame's time cannot be read: the log is damaged there.
var errNoTime = errors.New("ts is not a time")

// timed is a frame of a Scanner's if its time could be read.
func timed(sc *Scanner) (*Frame, error) {
	f, err := sc.Next()
	if err == nil && f.TS.IsZero() {
		return nil, &LineError{sc.Line(), errNoTime}
	}
	return f, err
}

// ReadFrames streams a session log of glassport's, or of anyone who writes its format:
// a Scanner's frames as copies. torn, if not nil, is set when the log ends within a line.
func ReadFrames(log io.Reader, torn *bool) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		sc := NewScanner(log)
		for {
			f, err := timed(sc)
			if errors.Is(err, io.EOF) {
				if torn != nil {
					*torn = sc.Torn
				}
				return
			}
			var bad *LineError
			switch {
			case err == nil:
				if !yield(f.clone(), nil) {
					return
				}
			case !yield(Frame{}, err) || !errors.As(err, &bad):
				return
			}
		}
	}
}

// clone is a copy that outlives the Scanner's next line.
func (f *Frame) clone() Frame {
	c := *f
	c.Message, c.Raw = bytes.Clone(f.Message), bytes.Clone(f.Raw)
	c.Gate, c.SSE, c.HTTP = bytes.Clone(f.Gate), bytes.Clone(f.SSE), bytes.Clone(f.HTTP)
	return c
}

func (r *Reader) readTrace(fail func(error) bool, each func([]byte) (bool, error)) {
	f, err := OpenFile(r.dir, TraceFile)
	if err != nil {
		fail(fmt.Errorf("run's log: %w", err))
		return
	}
	defer f.Close()
	if readLines(f, func(err error) bool { return fail(fmt.Errorf("%s: %w", TraceFile, err)) }, each) {
		r.torn.Store(true)
	}
}

// readLines calls each with every line, and fail with what went wrong with one,
// until one of them wants no more. It reports whether the last line was torn.
func readLines(src io.Reader, fail func(error) bool, each func([]byte) (bool, error)) (torn bool) {
	lines := newLines(src)
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return false
		case errors.Is(err, errLong):
			if !fail(fmt.Errorf("line %d: %w", lines.n, err)) {
				return false
			}
			continue
		case err != nil && !errors.Is(err, errTorn):
			fail(fmt.Errorf("line %d: %w", lines.n, err))
			return false
		}
		// A last line that lacks nothing but its end is whole.
		if err != nil && !json.Valid(line) {
			return true
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		more, err := each(line)
		if err != nil {
			more = fail(fmt.Errorf("line %d: %w", lines.n, err))
		}
		if !more {
			return false
		}
	}
}

func parseLine(line []byte) (Line, error) {
	var kind struct {
		Type string `json:"type"`
	}
	switch {
	case bytes.HasPrefix(line, []byte(`{"type":"record",`)):
		kind.Type = "record"
	case bytes.HasPrefix(line, []byte(`{"type":"mark",`)):
		kind.Type = "mark"
	default:
		if err := json.Unmarshal(line, &kind); err != nil {
			return Line{}, err
		}
	}
	switch kind.Type {
	case "record":
		if r, ok := parseRecord(line); ok {
			return Line{Record: r}, nil
		}
		var l recordLine
		err := json.Unmarshal(line, &l)
		return Line{Record: &l.Record}, err
	case "mark":
		if m, ok := parseMark(line); ok {
			return Line{Mark: m}, nil
		}
		var l markLine
		err := json.Unmarshal(line, &l)
		l.readPayload(l.Payload)
		return Line{Mark: &l.Mark}, err
	case "flow":
		var l flowLine
		err := json.Unmarshal(line, &l)
		return Line{Flow: &l.Flow}, err
	}
	return Line{}, fmt.Errorf("type %.40q is not record, mark or flow", kind.Type)
}
