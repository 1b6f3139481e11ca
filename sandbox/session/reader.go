package session

import (
	"encoding/json"
	"iter"
	"os"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Frame is one line of session.jsonl.
type Frame struct {
	Seq uint64
	// TS is the wall clock; the run's clock is in the mark of the same Seq.
	TS  time.Time
	Dir Dir
	// Message is the JSON value that crossed the wire, nil if the line was none.
	Message json.RawMessage
	// Raw is the line as it crossed, nil when Message is set.
	Raw []byte
	// Gate and SSE are glassport's optional members, raw.
	Gate json.RawMessage
	SSE  json.RawMessage
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
}

// Reader reads a run's files, as often as is asked.
type Reader struct {
	Header Header
}

// Open reads the header of the run in dir. The Reader keeps dir but does not close it.
func Open(dir *os.Root) (*Reader, error) { return &Reader{}, nil }

// Frames streams session.jsonl. An error concerns one line unless it is the last.
func (r *Reader) Frames() iter.Seq2[Frame, error] { return func(func(Frame, error) bool) {} }

// Trace streams trace.jsonl after its header.
func (r *Reader) Trace() iter.Seq2[Line, error] { return func(func(Line, error) bool) {} }

// Torn reports whether a file read so far ended within a line.
func (r *Reader) Torn() bool { return false }
