package wire

import (
	"bytes"
	"strings"
)

// Event is one block of a stream of server-sent events (text/event-stream, as
// the WHATWG's HTML standard has it).
type Event struct {
	// Name, ID and Retry are the fields' last values, empty when absent.
	Name, ID, Retry string
	// Data are the data fields joined by line feeds, nil when there is none.
	Data []byte
	// Raw is the block as it came, with the blank line that ends it. It is
	// valid until emit returns.
	Raw []byte
	// Oversize says that the block is longer than the maximum. Its pieces come
	// one after another, each with Raw alone; the block ends where Oversize ends.
	Oversize bool
	// Partial says that the stream ended before the block did.
	Partial bool
}

// EventSplitter cuts a stream of server-sent events into blocks, whatever
// chunks it comes in, and loses no byte of it: all Raw together are the stream.
// It holds at most one block of at most its maximum. One EventSplitter serves
// one goroutine at a time.
type EventSplitter struct {
	max  int
	buf  []byte
	line int  // where the current line begins in buf
	over bool // the current block is oversize, and buf holds none of it
	text bool // the current line of an oversize block is not blank
	cr   bool // the last chunk ended with a carriage return
}

// NewEventSplitter returns an EventSplitter for blocks of at most max bytes, MaxLine if max is not positive.
func NewEventSplitter(max int) *EventSplitter {
	if max <= 0 {
		max = MaxLine
	}
	return &EventSplitter{max: max}
}

// Feed takes the next chunk and calls emit with each block that it completes.
func (s *EventSplitter) Feed(p []byte, emit func(Event)) {
	if len(p) == 0 {
		return
	}
	if s.cr && p[0] == '\n' {
		// The other half of a line end that has been acted on.
		s.hold(p[:1], emit)
		s.line = len(s.buf)
		p = p[1:]
	}
	s.cr = len(p) > 0 && p[len(p)-1] == '\r'
	for len(p) > 0 {
		n := bytes.IndexAny(p, "\r\n")
		if n < 0 {
			s.hold(p, emit)
			s.text = true
			return
		}
		s.text = s.text || n > 0
		end := n + 1
		if p[n] == '\r' && end < len(p) && p[end] == '\n' {
			end++
		}
		blank := s.over && !s.text || !s.over && n == 0 && s.blank()
		s.hold(p[:end], emit)
		p = p[end:]
		s.text = false
		if blank {
			s.finish(emit)
		} else {
			s.line = len(s.buf)
		}
	}
}

// blank reports whether the line that ends now has nothing in it.
func (s *EventSplitter) blank() bool { return s.line == len(s.buf) }

func (s *EventSplitter) hold(p []byte, emit func(Event)) {
	if !s.over && len(s.buf)+len(p) <= s.max {
		s.buf = append(s.buf, p...)
		return
	}
	if !s.over {
		s.over = true
		if len(s.buf) > 0 {
			emit(Event{Raw: s.buf, Oversize: true})
		}
		s.buf, s.line = nil, 0
	}
	emit(Event{Raw: p, Oversize: true})
}

func (s *EventSplitter) finish(emit func(Event)) {
	if !s.over {
		emit(parseEvent(s.buf))
	}
	s.reset()
}

func (s *EventSplitter) reset() {
	if cap(s.buf) > keepBuffer {
		s.buf = nil
	}
	s.buf, s.line, s.over, s.text = s.buf[:0], 0, false, false
}

// Flush emits what the stream's end left of a block, if anything.
func (s *EventSplitter) Flush(emit func(Event)) {
	if len(s.buf) > 0 {
		emit(Event{Raw: s.buf, Partial: true})
	}
	s.reset()
}

// parseEvent reads the fields of a whole block.
func parseEvent(raw []byte) Event {
	e := Event{Raw: raw}
	rest := bytes.TrimPrefix(raw, []byte("\ufeff"))
	for len(rest) > 0 {
		n := bytes.IndexAny(rest, "\r\n")
		if n < 0 {
			n = len(rest)
		}
		line := rest[:n]
		rest = rest[min(n+1, len(rest)):]
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Name = string(value)
		case "id":
			if !bytes.Contains(value, []byte{0}) {
				e.ID = string(value)
			}
		case "retry":
			if v := string(value); v != "" && strings.Trim(v, "0123456789") == "" {
				e.Retry = v
			}
		case "data":
			if e.Data != nil {
				e.Data = append(e.Data, '\n')
			}
			e.Data = append(e.Data, value...)
			if e.Data == nil {
				e.Data = []byte{}
			}
		}
	}
	return e
}
