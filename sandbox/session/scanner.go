package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Metrics is the line with which a tap closes a log.
type Metrics struct {
	Type          string  `json:"type"`
	TS            string  `json:"ts"`
	FramesSeen    int64   `json:"frames_seen"`
	FramesBlocked int64   `json:"frames_blocked"`
	Duration      float64 `json:"session_duration_s"`
	LogBytes      int64   `json:"log_bytes"`
	// Dropped are records that the tap could not write.
	Dropped int64 `json:"records_dropped"`
	// Client is ClientProbe in the log of a probe, "" in others.
	Client string `json:"client"`
}

// ClientProbe names coalmine as the client of a session in the log's metrics.
const ClientProbe = "coalmine probe"

// Scanner reads a session log of anyone who writes glassport's format, line by
// line in bounded memory, at the speed of the disk. What it returns is valid until
// the next call, and a time that cannot be read is the zero time.
type Scanner struct {
	// Metrics is the latest line of metrics that was passed, nil for none.
	Metrics *Metrics
	// Torn says that the log ended within its last line.
	Torn bool
	// Did takes each line about what the server did beside talking. It may be nil.
	Did func(*Did)

	lines *lines
	frame Frame
	env   wire.Envelope
	inEnv bool
	clock clock
}

// NewScanner reads from r, which it does not close.
func NewScanner(r io.Reader) *Scanner { return &Scanner{lines: newLines(r)} }

// Envelope are the members of the frame last returned, nil where reading the
// line did not yield them: it is no object, or in another form than taps write.
func (s *Scanner) Envelope() *wire.Envelope {
	if !s.inEnv {
		return nil
	}
	return &s.env
}

// Line is the number of the line last read, from 1.
func (s *Scanner) Line() int { return s.lines.n }

// Place is where the line last read stands in what the Scanner reads: its first byte and its
// length with its end, in bytes.
func (s *Scanner) Place() (start, size int64) { return s.lines.at, s.lines.read - s.lines.at }

// Growing makes the Scanner keep a line without an end until the rest of it is there:
// after io.EOF, Next may be called again.
func (s *Scanner) Growing() { s.lines.growing = true }

// LineError says which line could not be read; reading goes on behind it.
type LineError struct {
	Line int
	Err  error
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Next is the next frame; io.EOF at the log's end, a *LineError for one line
// that is no frame, any other error where the log itself can be read no further.
func (s *Scanner) Next() (*Frame, error) {
	for {
		s.inEnv = false
		line, err := s.lines.next()
		switch {
		case errors.Is(err, errLong):
			return nil, &LineError{s.lines.n, err}
		case errors.Is(err, errTorn):
			if !json.Valid(line) {
				s.Torn = true
				return nil, io.EOF
			}
		case err != nil:
			return nil, err
		}
		if s.canonical(line) {
			return &s.frame, nil
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		ok, err := s.any(line)
		if err != nil {
			return nil, &LineError{s.lines.n, err}
		}
		if ok {
			return &s.frame, nil
		}
	}
}

// The parts of a line as glassport, and Log, write it.
var (
	partSeq   = []byte(`{"schema_version": "0.1", "seq": `)
	partTS    = []byte(`, "ts": "`)
	partC2S   = []byte(`", "dir": "c2s", "frame": `)
	partS2C   = []byte(`", "dir": "s2c", "frame": `)
	partNoRaw = []byte(`, "raw": null}`)
)

// canonical reads a line of exactly the form that taps write for a message.
func (s *Scanner) canonical(line []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte{'\r'}), partSeq)
	if !ok {
		return false
	}
	seq, n := uint64(0), 0
	for n < len(rest) && n < 18 && rest[n] >= '0' && rest[n] <= '9' {
		seq = seq*10 + uint64(rest[n]-'0')
		n++
	}
	if n == 0 {
		return false
	}
	if rest, ok = bytes.CutPrefix(rest[n:], partTS); !ok {
		return false
	}
	end := bytes.IndexByte(rest[:min(len(rest), 40)], '"')
	if end < 0 {
		return false
	}
	ts, dir := rest[:end], C2S
	if rest, ok = bytes.CutPrefix(rest[end:], partC2S); !ok {
		if rest, ok = bytes.CutPrefix(rest, partS2C); !ok {
			return false
		}
		dir = S2C
	}
	rest, ok = bytes.CutSuffix(rest, partNoRaw)
	// The frame ends where its value does, not where the line says so.
	if !ok || len(rest) == 0 || rest[0] == 'n' {
		return false
	}
	if s.inEnv = rest[0] == '{'; s.inEnv {
		if s.inEnv = s.env.Read(rest) == nil; !s.inEnv {
			return false
		}
	} else if wire.CheckJSON(rest) != nil {
		return false
	}
	s.frame = Frame{Seq: seq, TS: s.clock.parse(ts), Dir: dir, Message: rest}
	return true
}

// anyLine is a line of session.jsonl in whatever form.
type anyLine struct {
	Metrics
	Seq   json.RawMessage `json:"seq"`
	Dir   Dir             `json:"dir"`
	Frame json.RawMessage `json:"frame"`
	Raw   *string         `json:"raw"`
	Gate  json.RawMessage `json:"gate"`
	SSE   json.RawMessage `json:"sse_meta"`
	HTTP  json.RawMessage `json:"http_observation"`
}

// any reads a line of any form; ok is false for one that is no frame.
func (s *Scanner) any(line []byte) (ok bool, err error) {
	if err := wire.CheckJSON(line); err != nil {
		return false, err
	}
	var l anyLine
	if err := json.Unmarshal(line, &l); err != nil {
		return false, err
	}
	if strings.HasPrefix(l.Type, "glassport.") {
		switch l.Type {
		case "glassport.metrics":
			s.Metrics = &l.Metrics
		case DidEffect, DidFinding:
			if d := did(line, s.lines.n); d != nil && s.Did != nil {
				s.Did(d)
			}
		}
		return false, nil
	}
	if l.Dir != C2S && l.Dir != S2C {
		return false, fmt.Errorf("dir %.20q is neither %q nor %q", l.Dir, C2S, S2C)
	}
	seq, _ := strconv.ParseUint(string(l.Seq), 10, 64)
	f := Frame{Seq: seq, TS: s.clock.parse([]byte(l.TS)), Dir: l.Dir, Gate: present(l.Gate), SSE: present(l.SSE), HTTP: present(l.HTTP)}
	switch {
	case l.Raw != nil:
		f.Raw = []byte(*l.Raw)
	case len(l.Frame) == 0:
		return false, errors.New("neither frame nor raw")
	default:
		f.Message = l.Frame
	}
	s.frame = f
	return true, nil
}

// present is nil for a member that is absent or null.
func present(v json.RawMessage) json.RawMessage {
	if len(v) == 0 || v[0] == 'n' {
		return nil
	}
	return v
}

// clock reads time stamps, most of which share their minute with the one before.
type clock struct {
	prefix [16]byte
	base   int64
}

// parse reads an RFC 3339 time, the zero time if it is none.
func (c *clock) parse(ts []byte) time.Time {
	if sec, nsec, ok := c.utc(ts); ok {
		return time.Unix(sec, nsec).UTC()
	}
	t, err := time.Parse(time.RFC3339Nano, string(ts))
	if err != nil {
		return time.Time{}
	}
	return t
}

// utc reads the form "2006-01-02T15:04:05[.000000]+00:00".
func (c *clock) utc(ts []byte) (sec, nsec int64, ok bool) {
	n := len(ts)
	if n != 25 && n != 32 || ts[16] != ':' || string(ts[n-6:]) != "+00:00" {
		return 0, 0, false
	}
	if string(c.prefix[:]) != string(ts[:16]) {
		t, err := time.Parse("2006-01-02T15:04", string(ts[:16]))
		if err != nil {
			return 0, 0, false
		}
		copy(c.prefix[:], ts)
		c.base = t.Unix()
	}
	s, ok := number(ts[17:19])
	if !ok || s > 59 {
		return 0, 0, false
	}
	if n == 32 {
		var us int64
		if us, ok = number(ts[20:26]); !ok || ts[19] != '.' {
			return 0, 0, false
		}
		nsec = us * 1000
	}
	return c.base + s, nsec, true
}

func number(p []byte) (n int64, ok bool) {
	for _, c := range p {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
