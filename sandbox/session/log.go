package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The bounds of a log.
const (
	// DefaultLimit bounds the two files together.
	DefaultLimit = 256 << 20
	// MaxLine bounds one line of either file.
	MaxLine = 64 << 20
	// maxText bounds the texts of a mark, and what is kept of a line too long to keep.
	maxText = 64 << 10
	// maxPassed is the longest passed value that a cut cannot halve unseen.
	maxPassed = 16 << 10
	// flushAt and flushEvery bound what a killed run loses.
	flushAt    = 64 << 10
	flushEvery = 50 * time.Millisecond
	// keepBuffer is the largest buffer that outlives a long line.
	keepBuffer = 4 << 20
)

// class ranks what competes for the log's last bytes: records and stderr yield
// to frames, frames to the marks without which nothing can be judged.
type class int

const (
	bulk class = iota
	frame
	mark
	classes
)

var lossOf = [classes]string{bulk: "records", frame: "frames", mark: "marks"}

// Log writes a run's two files. It may be used from many goroutines. Its methods
// do not fail: the first error is kept for Err and Close, and what could not be
// written is counted and, as far as possible, recorded as a loss mark.
type Log struct {
	mu     sync.Mutex
	header Header
	frames file
	trace  file
	limit  int64
	seq    uint64
	last   time.Duration
	lost   [classes]int64
	told   [classes]int64 // of lost, what a loss mark already says
	timer  *time.Timer
	armed  bool
	closed bool
	err    error
	redact *canaries.Redactor
}

// Create makes both files of a log, mode 0600, in place of regular files of these
// names. Anything else of these names, a link above all, is an error. It sets
// the header's Schema, and Started if that is zero.
func (o Output) Create(h Header) (*Log, error) {
	h.Schema = Schema
	if h.Started.IsZero() {
		h.Started = time.Now()
	}
	first, err := json.Marshal(headerLine{Type: "header", Header: h})
	if err != nil {
		return nil, fmt.Errorf("session log: header: %w", err)
	}
	l := &Log{header: h, limit: DefaultLimit, last: h.Clock0, redact: o.Redactor}
	l.frames.redact = jsonRedactor{Redactor: o.Redactor, foreign: "frame"}
	l.trace.redact = jsonRedactor{Redactor: o.Redactor, bytesIn: "data"}
	if l.frames.f, err = create(o.Root, FramesFile); err != nil {
		return nil, fmt.Errorf("session log: %w", err)
	}
	if l.trace.f, err = create(o.Root, TraceFile); err != nil {
		return nil, errors.Join(fmt.Errorf("session log: %w", err), l.frames.f.Close())
	}
	l.trace.buf = append(append(l.trace.buf, first...), '\n')
	if err := l.trace.flush(); err != nil {
		return nil, errors.Join(fmt.Errorf("session log: %w", err), l.frames.f.Close(), l.trace.f.Close())
	}
	l.timer = time.AfterFunc(time.Hour, l.tick)
	l.timer.Stop()
	return l, nil
}

// headerLine, and in the reader recordLine and markLine, are the lines of trace.jsonl.
type headerLine struct {
	Type string `json:"type"`
	Header
}

// Frame records one line of the wire and returns its seq, counted from 1, even
// if it could not be written. It also writes the mark that has the exact stamp,
// and one of MarkBadLine if the line is not JSON in UTF-8.
func (l *Log) Frame(d Dir, stamp time.Duration, raw []byte) (seq uint64) {
	line := bytes.TrimRight(raw, "\r\n")
	bad := Mark{Time: stamp, Kind: MarkBadLine, N: int64(len(line))}
	long := len(line) > wire.MaxLine
	if long {
		bad.Text = fmt.Sprintf("line of %d bytes cut", len(line))
		line = []byte(l.cut(string(line[:maxText+maxPassed])))
	}
	text := line
	err := wire.CheckJSON(text)
	valid := err == nil || utf8.Valid(line)
	if !valid {
		text = appendValid(nil, line)
		err = wire.CheckJSON(text)
		bad.Text, bad.Data = "not UTF-8", line[:min(len(line), maxText)]
	}
	if err != nil && bad.Text == "" {
		bad.Text = err.Error()
	}
	isJSON := err == nil && !long

	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	if l.keep(&l.frames, frame, stamp, func(b []byte) []byte {
		return appendFrame(b, l.seq, l.wall(stamp), d, text, isJSON)
	}) {
		bad.Seq = l.seq
		l.keep(&l.trace, frame, stamp, func(b []byte) []byte { return appendFrameMark(b, stamp, l.seq) })
		if !isJSON || !valid {
			l.keep(&l.trace, frame, stamp, func(b []byte) []byte { return appendMark(b, bad) })
		}
	}
	return l.seq
}

// Record records a system call.
func (l *Log) Record(r *trace.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(&l.trace, bulk, r.Time, func(b []byte) []byte { return appendRecord(b, r) })
}

// Flow records what the sinkhole saw. Payload yields to what says whose it was.
func (l *Log) Flow(f *trace.Flow) {
	c := frame
	if f.Type == trace.FlowData || f.Type == trace.FlowPlain {
		c = bulk
	}
	line, err := json.Marshal(flowLine{Type: "flow", Flow: *f})
	if err != nil {
		l.Mark(Mark{Time: f.Stamp, Kind: MarkLoss, What: "flows", N: 1, Text: err.Error()})
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(&l.trace, c, f.Stamp, func(b []byte) []byte { return append(b, line...) })
}

// Mark records a mark; its texts are bounded. The marks that begin and end
// things are on disk when it returns.
func (l *Log) Mark(m Mark) {
	m.Text, m.Tool, m.What = l.cut(m.Text), l.cut(m.Tool), l.cut(m.What)
	m.bound()
	c := mark
	if m.Kind == MarkStderr {
		c = bulk
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(&l.trace, c, m.Time, func(b []byte) []byte { return appendMark(b, m) })
	switch m.Kind {
	case MarkPhase, MarkCall, MarkReturn, MarkInconclusive, MarkLoss:
		l.flush()
	}
}

// cut is cut for what may hold passed values: of one that the cut halves, nobody
// could tell what it was.
func (l *Log) cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return cut(l.redact.Redact(s[:min(len(s), maxText+maxPassed)]))
}

// keep appends a line to f, or counts its loss. The lock is held.
func (l *Log) keep(f *file, c class, stamp time.Duration, appendTo func([]byte) []byte) bool {
	if l.closed {
		return false
	}
	l.last = max(l.last, stamp)
	if l.err != nil {
		l.lost[c]++
		return false
	}
	before := len(f.buf)
	f.buf = append(appendTo(f.buf), '\n')
	n := len(f.buf) - before
	reserve := l.limit / 8 * int64(mark-c)
	kept := n <= MaxLine && l.frames.size()+l.trace.size() <= l.limit-reserve
	if !kept {
		f.buf = f.buf[:before]
		if l.lost[c]++; l.lost[c] == 1 {
			l.tell(c, fmt.Sprintf("no room for a line of %d bytes", n))
		}
	}
	if len(f.buf) >= flushAt {
		l.flush()
	} else if !l.armed {
		l.armed = true
		l.timer.Reset(flushEvery)
	}
	return kept
}

// tell writes a loss mark for what no mark says yet. The marks' N add up to the loss.
func (l *Log) tell(c class, why string) {
	n := l.lost[c] - l.told[c]
	if n == 0 {
		return
	}
	l.told[c] = l.lost[c]
	l.trace.buf = append(appendMark(l.trace.buf, Mark{Time: l.last, Kind: MarkLoss, What: lossOf[c], N: n, Text: why}), '\n')
}

func (l *Log) wall(stamp time.Duration) time.Time {
	return l.header.Started.Add(stamp - l.header.Clock0)
}

// tick is the timer's function.
func (l *Log) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
	if !l.closed {
		l.flush()
	}
}

// Flush hands everything recorded so far to the system.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.flush()
	}
}

// flush writes both buffers, the trace first: a frame on disk has its mark there too.
func (l *Log) flush() {
	for _, f := range []*file{&l.trace, &l.frames} {
		if err := f.flush(); err != nil && l.err == nil {
			l.err = fmt.Errorf("session log: %w", err)
		}
	}
}

// Err is the first error in writing, nil for none.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Lost is how many frames, records and marks are not in the log.
func (l *Log) Lost() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost[bulk] + l.lost[frame] + l.lost[mark]
}

// Close writes what is buffered, the losses and the metrics line, and closes
// the files. Its error is the first one of the log's life. What is recorded
// afterwards is dropped.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.err
	}
	l.flush()
	why := "no room in the log"
	if l.err != nil {
		why = l.err.Error()
	}
	for c := range classes {
		l.tell(c, why)
	}
	l.frames.buf = appendMetrics(l.frames.buf, l.wall(l.last), l.seq, 0, l.last-l.header.Clock0, l.frames.size())
	l.frames.buf = append(l.frames.buf[:len(l.frames.buf)-len("}\n")], `, "client": "`+ClientProbe+"\"}\n"...)
	l.flush()
	l.closed = true
	l.timer.Stop()
	for _, f := range []*file{&l.trace, &l.frames} {
		if err := f.f.Close(); err != nil && l.err == nil {
			l.err = fmt.Errorf("session log: %w", err)
		}
	}
	return l.err
}
