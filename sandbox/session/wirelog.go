package session

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The bounds of a WireLog.
const (
	// DefaultRotate is the size at which a log goes on in the next file.
	DefaultRotate = 256 << 20
	// maxName bounds the part of a log's name that says what ran.
	maxName = 32
	// lookEvery is how often a WireLog looks whether its file is still there.
	lookEvery = time.Second
)

// DirEnv names the variable that says where wire logs are kept.
const DirEnv = "COALMINE_LOG_DIR"

// WireDir is where wire logs are kept unless somebody says otherwise: $COALMINE_LOG_DIR,
// else coalmine/sessions below $XDG_STATE_HOME or ~/.local/state.
func WireDir() (string, error) {
	if dir := os.Getenv(DirEnv); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "coalmine", "sessions"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("where to keep session logs: %w", err)
	}
	return filepath.Join(home, ".local", "state", "coalmine", "sessions"), nil
}

// WireName is a wire log's file name: the moment in UTC, what ran in letters,
// digits and underscores, at most 32, and the process's id.
func WireName(at time.Time, what string, pid int) string {
	return fmt.Sprintf("%s_%s_%d.jsonl", at.UTC().Format("20060102T150405Z"), wireWord(what), pid)
}

// wireWord is what, with everything but letters and digits replaced.
func wireWord(what string) string {
	word := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, what)
	return word[:min(len(word), maxName)]
}

// Gate is what a gate did with a frame. Actions are glassport's: "blocked" never
// reached its peer, "injected" was made by the gate, "gate_skipped" passed
// because nothing could be checked, "gate_disabled" because nothing was to be. "gate_would_block"
// passed a gate that only observes.
type Gate struct {
	Action string `json:"action"`
	Tool   string `json:"tool,omitempty"`
	// Declared are the tools that could be called, sorted; nil is not written.
	Declared []string `json:"declared,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	// Evidence is what the record proves; a log always has it, see Level.
	Evidence EvidenceLevel `json:"evidence_level,omitempty"`
}

// SSE are the fields beside the data of a server-sent event; empty ones are not written.
type SSE struct {
	Event string `json:"event,omitempty"`
	ID    string `json:"id,omitempty"`
	Retry string `json:"retry,omitempty"`
}

// WireFrame is one frame for a WireLog.
type WireFrame struct {
	Dir Dir
	At  time.Time
	Raw []byte
	// Gate and SSE are nil where there is nothing to say.
	Gate *Gate
	SSE  *SSE
}

// WireLog is a log of frames alone, in glassport's format, for sessions outside
// the sandbox. It may be used from many goroutines. Its methods do not fail:
// what could not be written is counted, the first fault of a kind is told, and
// writing is tried again, since a disk can be full for a while.
type WireLog struct {
	opts    WireOptions
	mu      sync.Mutex
	file    file
	name    string // of the open file, a path; "" without one
	started time.Time
	last    time.Time
	looked  time.Time
	seq     uint64
	blocked int64
	dropped int64
	total   int64 // bytes of the files before this one
	timer   *time.Timer
	armed   bool
	closed  bool
	told    bool
	err     error
	// failures is how often writing failed. pending and written are the seqs of the first and the
	// last frame in the buffer and in the open file, 0 for none.
	failures         int64
	pending, written [2]uint64
}

// WireOptions say where a WireLog writes.
type WireOptions struct {
	// Dir is made with mode 0700 if it is missing.
	Dir string
	// What ran, for the name: a program or a host.
	What string
	// Rotate is the size in bytes at which a log goes on in a next file,
	// DefaultRotate if it is not positive.
	Rotate int64
	// Trouble is told, at most once until writing succeeds again, why records
	// are being dropped. It may be nil.
	Trouble func(error)
	// Header begins each file; its zero value writes none.
	Header WireHeader
}

// WireHeader says in a log's first line who wrote it, as glassport's logs of schema 0.2 do.
// It has no address and no command line.
type WireHeader struct {
	// Version is coalmine's, Transport "stdio" or "http", Mode "tap" or "gate".
	Version, Transport, Mode string
}

// line is the header's, nil for no header.
func (h WireHeader) line(at time.Time) []byte {
	if h == (WireHeader{}) {
		return nil
	}
	b := append([]byte(nil), `{"type": "glassport.header", "schema_version": "0.2"`...)
	for _, p := range [][2]string{{"coalmine_version", h.Version}, {"transport", h.Transport}, {"mode", h.Mode}} {
		b = appendPair(b, p[0], p[1])
	}
	b = append(appendWall(append(b, `, "started_at": "`...), at), "\"}\n"...)
	return b
}

// NewWireLog opens a log. Its error leaves a WireLog that drops everything
// until the directory can be written.
func NewWireLog(opts WireOptions) (*WireLog, error) {
	if opts.Rotate <= 0 {
		opts.Rotate = DefaultRotate
	}
	now := time.Now()
	l := &WireLog{opts: opts, started: now, last: now, looked: now}
	l.timer = time.AfterFunc(time.Hour, l.tick)
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		l.told = true // with this error
		return l, fmt.Errorf("session log: %w", err)
	}
	return l, nil
}

// open makes the next file. The lock is held.
func (l *WireLog) open() error {
	if l.opts.Dir == "" {
		return errors.New("no directory is named")
	}
	if err := os.MkdirAll(l.opts.Dir, 0o700); err != nil {
		return err
	}
	for n := 1; n < 1000; n++ {
		word := wireWord(l.opts.What)
		if n > 1 {
			// Another of the same second and process.
			more := "_" + strconv.Itoa(n)
			word = word[:min(len(word), maxName-len(more))] + more
		}
		name := filepath.Join(l.opts.Dir, WireName(time.Now(), word, os.Getpid()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		l.file = file{f: f, buf: l.file.buf, sum: sha256.New()}
		l.name, l.written = name, [2]uint64{}
		l.begin()
		return nil
	}
	return fmt.Errorf("no name is free in %s", l.opts.Dir)
}

// begin writes the header of a new file. Where that fails, the file has none: the frames
// count more. The lock is held.
func (l *WireLog) begin() {
	line := l.opts.Header.line(l.started)
	if n, err := l.file.f.Write(line); err != nil || n < len(line) {
		_ = l.file.f.Truncate(0) // a line that is cut off is read as one that is torn
		return
	}
	_, _ = l.file.sum.Write(line)
	l.file.written = int64(len(line))
}

// Name is the path of the file that is written now, "" if there is none.
func (l *WireLog) Name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
}

// Frame records one frame and returns its seq, counted from 1.
func (l *WireLog) Frame(f WireFrame) uint64 {
	line := bytes.TrimRight(f.Raw, "\r\n")
	text := line
	if !utf8.Valid(line) {
		text = appendValid(nil, line)
	}
	isJSON := wire.CheckJSON(text) == nil
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	l.last = f.At
	if f.Gate != nil && f.Gate.Action == "blocked" {
		l.blocked++
	}
	if l.closed {
		l.dropped++
		return l.seq
	}
	before := len(l.file.buf)
	l.file.buf = append(appendWireFrame(l.file.buf, l.seq, f, text, isJSON), '\n')
	if len(l.file.buf)-before > MaxLine {
		l.file.buf = l.file.buf[:before]
		l.dropped++
		return l.seq
	}
	if l.pending[1] = l.seq; l.pending[0] == 0 {
		l.pending[0] = l.seq
	}
	l.buffered()
	return l.seq
}

// buffered sees to it that what was put into the buffer is written soon. The lock is held.
func (l *WireLog) buffered() {
	if len(l.file.buf) >= flushAt {
		l.flush()
	} else if !l.armed {
		l.armed = true
		l.timer.Reset(flushEvery)
	}
}

// Drop counts n records that never got here.
func (l *WireLog) Drop(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped += n
}

// Dropped is how many records are not in the log.
func (l *WireLog) Dropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

func (l *WireLog) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
	if !l.closed {
		l.flush()
	}
}

// flush writes the buffer, into a new file where the old one is full or gone.
// The lock is held.
func (l *WireLog) flush() {
	if len(l.file.buf) == 0 {
		return // a next file would hold no frame
	}
	waiting := int64(bytes.Count(l.file.buf, []byte{'\n'}))
	err := l.ready()
	if err == nil {
		before := l.file.written
		buf := l.file.buf
		if err = l.file.flush(); err != nil {
			kept := l.file.written - before
			waiting -= int64(bytes.Count(buf[:min(kept, int64(len(buf)))], []byte{'\n'}))
		}
	}
	pending := l.pending
	l.pending = [2]uint64{}
	if err == nil {
		l.told = false
		if pending[0] > 0 {
			if l.written[1] = pending[1]; l.written[0] == 0 {
				l.written[0] = pending[0]
			}
		}
		return
	}
	l.failures++
	l.dropped += waiting
	l.file.buf = l.file.buf[:0]
	l.err = fmt.Errorf("session log: %w", err)
	if !l.told && l.opts.Trouble != nil {
		l.opts.Trouble(l.err)
	}
	l.told = true
}

// ready sees to it that there is a file to write to. The lock is held.
func (l *WireLog) ready() error {
	now := time.Now()
	if l.name != "" && now.Sub(l.looked) >= lookEvery {
		l.looked = now
		there, err := os.Lstat(l.name)
		if mine, mineErr := l.file.f.Stat(); err != nil || mineErr != nil || !os.SameFile(there, mine) {
			l.leave()
		}
	}
	if l.name != "" && l.file.written > 0 && l.file.size() > l.opts.Rotate {
		l.leave()
	}
	if l.name == "" {
		return l.open()
	}
	return nil
}

// leave gives up the open file.
func (l *WireLog) leave() {
	l.total += l.file.written
	l.file.f.Close()
	l.name = ""
}

// Close writes what is buffered and the metrics line. Its error is the last
// fault in writing, nil if nothing was dropped.
func (l *WireLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.flush()
	l.closed = true
	l.timer.Stop()
	if l.name != "" {
		if err := l.finish(); err != nil {
			l.err = fmt.Errorf("session log: %w", err)
		}
		if err := l.file.f.Close(); err != nil && l.err == nil {
			l.err = fmt.Errorf("session log: %w", err)
		}
	}
	if l.dropped > 0 && l.err == nil {
		return fmt.Errorf("session log: %d records were dropped", l.dropped)
	}
	return l.err
}

// finish writes the metrics line. Where the disk is full it takes the place of
// the last records: a log that does not say what it lacks reads like a whole one.
// The lock is held.
func (l *WireLog) finish() error {
	l.file.buf = appendWireMetrics(l.file.buf, l)
	full := l.file.flush()
	if full == nil {
		return nil
	}
	lines, err := l.file.shorten(l.name)
	if err != nil {
		return errors.Join(full, err)
	}
	l.dropped += lines
	l.written = [2]uint64{} // its end is not known any more
	l.file.buf = appendWireMetrics(l.file.buf, l)
	return errors.Join(full, l.file.flush())
}

// appendWireFrame appends a frame's line without its end.
func appendWireFrame(b []byte, seq uint64, f WireFrame, text []byte, isJSON bool) []byte {
	b = appendFrame(b, seq, f.At, f.Dir, text, isJSON)
	if f.Gate == nil && f.SSE == nil {
		return b
	}
	b = b[:len(b)-1]
	if g := f.Gate; g != nil {
		b = append(b, `, "gate": {"action": `...)
		b = appendString(b, []byte(g.Action))
		b = appendPair(b, "tool", g.Tool)
		for i, name := range g.Declared {
			if i == 0 {
				b = append(b, `, "declared": [`...)
			} else {
				b = append(b, ", "...)
			}
			b = appendString(b, []byte(name))
		}
		if len(g.Declared) > 0 {
			b = append(b, ']')
		}
		b = appendPair(b, "reason", g.Reason)
		b = append(appendPair(b, "evidence_level", string(g.Level())), '}')
	}
	if s := f.SSE; s != nil {
		at := len(b) + len(`, "sse_meta": {`)
		b = append(b, `, "sse_meta": {`...)
		for _, p := range [][2]string{{"event", s.Event}, {"id", s.ID}, {"retry", s.Retry}} {
			b = appendPair(b, p[0], p[1])
		}
		// The first member has no comma before it.
		if len(b) > at {
			b = append(b[:at], b[at+len(", "):]...)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendPair appends a member of an object if its value is not empty.
func appendPair(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	b = append(appendString(append(b, ", "...), []byte(key)), ": "...)
	return appendString(b, []byte(value))
}

// appendWireMetrics appends the last line. It has the members of glassport's schema 0.2 and,
// where records are missing, their number.
func appendWireMetrics(b []byte, l *WireLog) []byte {
	b = appendMetrics(b, l.last, l.seq, l.blocked, l.last.Sub(l.started), l.total+l.file.size())
	b = append(b[:len(b)-len("}\n")], `, "write_failures": `...)
	b = strconv.AppendInt(b, l.failures, 10)
	if l.written[1] > 0 {
		b = append(b, fmt.Sprintf(`, "seq_range": [%d, %d]`, l.written[0], l.written[1])...)
	}
	if l.file.sum != nil {
		b = append(b, fmt.Sprintf(`, "log_sha256": "%x"`, l.file.sum.Sum(nil))...)
	}
	b = append(b, "}\n"...)
	if l.dropped > 0 {
		b = append(b[:len(b)-len("}\n")], `, "records_dropped": `...)
		b = append(strconv.AppendInt(b, l.dropped, 10), "}\n"...)
	}
	return b
}
