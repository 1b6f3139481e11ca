package reassembly

import (
	"bytes"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

const (
	// maxMessage is the longest message that is kept whole, as in a tap's log.
	maxMessage = 8 << 20
	// maxHeld bounds the chunks of one stream that wait for others before them.
	maxHeld = 1024
	// patience is how long a stream waits for a chunk that is missing.
	patience = 200 * time.Millisecond
	// maxStrange is how many lines that are no message a stream may begin with.
	maxStrange = 3
)

// stream is one direction: its bytes in order, cut into messages.
type stream struct {
	e *Engine
	sockets
	// writer and reader are who was seen, nil while unknown; their descriptors beside.
	writer, reader     *Process
	writerFD, readerFD int32

	started bool
	next    uint64 // the place of the next byte
	held    []*Chunk
	since   time.Duration // when the first of them began to wait
	used    time.Duration

	lines   *wire.Splitter
	web     *half
	strange int
	sure    bool // a message has crossed
	partial int  // bytes since the last whole message

	conv    *Conversation
	waiting []waitingLine
	waited  int // bytes of waiting
}

// waitingLine is a message whose reader is not known yet.
type waitingLine struct {
	at time.Duration
	content
}

// take takes a chunk, in the order of the calls.
func (s *stream) take(c *Chunk, now time.Duration) {
	s.used = now
	p := s.e.known(c.Process)
	if c.byReader() {
		s.reader, s.readerFD, s.readerInode = p, c.FD, c.Inode
	} else {
		s.writer, s.writerFD, s.writerInode = p, c.FD, c.Inode
	}
	if c.Start {
		s.restart(c)
	}
	if !s.started {
		return
	}
	switch {
	case c.At > s.next && len(s.held) < maxHeld:
		if len(s.held) == 0 {
			s.since = now
		}
		at, _ := slices.BinarySearchFunc(s.held, c.At, func(h *Chunk, at uint64) int {
			if h.At <= at {
				return -1
			}
			return 1
		})
		s.held = slices.Insert(s.held, at, c)
	case c.At < s.next && !c.Met:
		s.again(c)
	default:
		if c.At > s.next {
			s.gap(c.At - s.next)
		}
		s.bytes(c)
	}
	s.drain()
	if c.Met {
		s.flush(now)
	}
}

// drain takes the chunks whose turn has come.
func (s *stream) drain() {
	for len(s.held) > 0 && s.held[0].At <= s.next {
		c := s.held[0]
		s.held = s.held[1:]
		if c.At == s.next {
			s.bytes(c)
		} else {
			s.again(c)
		}
	}
}

// again takes of a chunk what is new: where a stream's reader is listened to after its
// writer was, some bytes come twice.
func (s *stream) again(c *Chunk) {
	if n := s.next - c.At; n < uint64(len(c.Data)) {
		c.At, c.Data = s.next, c.Data[n:]
		s.bytes(c)
	}
}

// restart begins anew where a message may begin.
func (s *stream) restart(c *Chunk) {
	s.gapHeld()
	s.started, s.next = true, c.At
	s.lines, s.web = nil, nil
	if head := bytes.TrimLeft(c.Data, " \t\r\n"); len(head) == 0 || head[0] == '{' || head[0] == '[' {
		s.lines = wire.NewSplitter(maxMessage)
		return
	}
	s.web = s.e.half(s, !bytes.HasPrefix(c.Data, []byte("HTTP/")))
}

// gapHeld gives up what waits for bytes that will not come.
func (s *stream) gapHeld() {
	for len(s.held) > 0 {
		if first := s.held[0]; first.At > s.next {
			s.gap(first.At - s.next)
		}
		s.drain()
	}
}

// gap passes bytes that are missing.
func (s *stream) gap(n uint64) {
	s.next += n
	s.e.lose(s, int64(n))
	switch {
	case s.lines != nil:
		s.lines.Gap()
	case s.web != nil:
		s.web.skip(int64(n))
	}
}

// bytes takes the next bytes.
func (s *stream) bytes(c *Chunk) {
	s.next += uint64(len(c.Data))
	s.hold(len(c.Data))
	switch {
	case s.lines != nil:
		s.lines.Feed(c.Data, func(l wire.Line) { s.line(c.Time, l) })
	case s.web != nil:
		s.web.now = c.Time
		s.web.feed(c.Data)
	}
	if c.Missing > 0 {
		s.gap(uint64(c.Missing))
	}
	if c.End {
		s.end(c.Time)
	}
}

// hold counts bytes of an unfinished message. Where all streams together hold too much,
// this one gives up its own.
func (s *stream) hold(n int) {
	s.partial += n
	s.e.buffered += n
	if s.e.buffered <= maxBuffered {
		return
	}
	s.e.lose(s, int64(s.partial-n))
	s.whole()
	switch {
	case s.lines != nil:
		s.lines.Gap()
	case s.web != nil && s.web.to != nil:
		s.web.to.missing(0)
	}
}

// whole says that a message is over.
func (s *stream) whole() {
	s.e.buffered -= s.partial
	s.partial = 0
}

// end says that the stream is over.
func (s *stream) end(at time.Duration) {
	switch {
	case s.lines != nil:
		s.lines.Flush(func(l wire.Line) { s.line(at, l) })
	case s.web != nil:
		s.web.now = at
		s.web.end()
	}
}

// line takes a line of a stream of JSON-RPC.
func (s *stream) line(at time.Duration, l wire.Line) {
	s.whole()
	if s.lines == nil || len(bytes.TrimSpace(l.Raw)) == 0 {
		return
	}
	if !s.sure {
		switch {
		case isRPC(l.Raw) || l.Oversize && bytes.Contains(l.Raw, []byte(`"jsonrpc"`)):
			s.sure = true
		default:
			s.strange++
			s.refuse()
			return
		}
	}
	c := content{raw: bytes.Clone(l.Raw)}
	if l.Oversize {
		c = cut(c.raw, "line", int64(l.Len))
	}
	if s.waited+len(c.raw) > maxMessage*2 {
		s.e.lose(s, int64(len(c.raw)))
		return
	}
	s.waiting = append(s.waiting, waitingLine{at, c})
	s.waited += len(c.raw)
	s.flush(at)
}

// refuse tells the collector that this is no MCP, at last for good.
func (s *stream) refuse() {
	s.lines, s.started = nil, false
	v := LookAgain
	if s.strange >= maxStrange {
		v = Ignore
	}
	s.e.opts.Verdict(s.key, v)
}

// flush hands on the messages that wait, once both sides are known.
func (s *stream) flush(now time.Duration) {
	if len(s.waiting) == 0 {
		return
	}
	if (s.reader == nil || s.writer == nil) && !s.find(now) {
		return
	}
	for _, w := range s.waiting {
		if s.conv == nil {
			s.conv = s.e.lineConversation(s)
		}
		s.e.emit(s.conv, &Message{At: w.at, From: s.writer, To: s.reader, Raw: w.raw, Cut: w.cut})
	}
	s.waiting, s.waited = nil, 0
}

// unread is how long a message waits for the process that reads it.
const unread = 30 * time.Second

// find looks for the side that was not seen. A writer that is not watched is never seen; a
// reader that has only just been started may take its time.
func (s *stream) find(now time.Duration) bool {
	if s.reader == nil && now-s.waiting[0].at < unread && !s.e.closing {
		return false
	}
	known := s.reader
	if known == nil {
		known = s.writer
	}
	other := &Process{}
	if known != nil {
		other = s.e.holder(s, known, s.reader == nil)
	}
	if s.reader == nil {
		s.reader = other
	}
	if s.writer == nil {
		s.writer = other
	}
	return true
}

// tick does what is due by time alone.
func (s *stream) tick(now time.Duration) {
	if len(s.held) > 0 && now-s.since > patience {
		if first := s.held[0]; first.At > s.next {
			s.gap(first.At - s.next)
		}
		s.drain()
		s.since = now
	}
	s.flush(now)
}
