package wire

import "bytes"

// MaxLine is the bound on a line that a zero or negative maximum stands for.
const MaxLine = 32 << 20

// HeadSize bounds what is kept of an oversize line.
const HeadSize = 4 << 10

// keepBuffer is the largest buffer that outlives the line it was made for.
const keepBuffer = 4 << 20

// Line is one line of a newline-delimited stream, without its line end
// ("\n", or "\r\n").
type Line struct {
	// Raw is the line, valid until emit returns. Of an Oversize line it is a
	// head of at most HeadSize bytes.
	Raw []byte
	// Oversize says that the line was longer than the Splitter's maximum.
	Oversize bool
	// Partial says that the stream ended before the line did.
	Partial bool
	// Len is the whole line's length in bytes, line end excluded.
	Len int
}

// Splitter cuts a byte stream into lines, whatever chunks it comes in. It holds
// at most one line of at most its maximum. A longer line is reported once, when
// it ends, and the next line is read as if nothing had happened. The zero
// Splitter is not ready for use; one Splitter serves one goroutine at a time.
type Splitter struct {
	max  int
	buf  []byte
	over int  // length so far of an oversize line, 0 outside of one
	last byte // the last byte of an oversize line
	skip bool // the line's head was lost: nothing to emit before the next one
}

// NewSplitter returns a Splitter for lines of at most max bytes, MaxLine if max is not positive.
func NewSplitter(max int) *Splitter {
	if max <= 0 {
		max = MaxLine
	}
	return &Splitter{max: max}
}

// Feed takes the stream's next bytes and calls emit for each line that they
// complete. It keeps no reference to p.
func (s *Splitter) Feed(p []byte, emit func(Line)) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.hold(p)
			return
		}
		s.line(p[:i], emit)
		p = p[i+1:]
	}
}

// line ends a line with its last bytes.
func (s *Splitter) line(p []byte, emit func(Line)) {
	if len(s.buf) == 0 && s.over == 0 && !s.skip {
		if l := trimCR(p); len(l) <= s.max {
			emit(Line{Raw: l, Len: len(l)})
			return
		}
	}
	s.hold(p)
	switch {
	case s.skip:
	case s.over > 0:
		n := s.over
		if s.last == '\r' {
			n--
		}
		emit(Line{Raw: s.buf[:min(len(s.buf), n)], Oversize: true, Len: n})
	default:
		l := trimCR(s.buf)
		emit(Line{Raw: l, Len: len(l)})
	}
	s.reset()
}

// hold keeps p as part of the current line, or only counts it once the line is oversize.
func (s *Splitter) hold(p []byte) {
	if s.skip || len(p) == 0 {
		return
	}
	s.last = p[len(p)-1]
	if s.over > 0 {
		s.over += len(p)
		return
	}
	n := len(s.buf) + len(p)
	// A carriage return past the maximum may turn out to be half of a line end.
	if n > s.max+1 || n == s.max+1 && s.last != '\r' {
		s.over = n
		head := min(HeadSize, s.max)
		if len(s.buf) < head {
			s.buf = append(s.buf, p[:min(len(p), head-len(s.buf))]...)
		}
		s.buf = append([]byte(nil), s.buf[:min(len(s.buf), head)]...)
		return
	}
	s.buf = append(s.buf, p...)
}

// Flush emits what the stream's end left without a line end, if anything.
func (s *Splitter) Flush(emit func(Line)) {
	n := max(s.over, len(s.buf))
	switch {
	case s.skip || n == 0:
	case n > s.max:
		emit(Line{Raw: s.buf[:min(len(s.buf), HeadSize, s.max)], Oversize: true, Partial: true, Len: n})
	default:
		emit(Line{Raw: s.buf, Partial: true, Len: n})
	}
	s.reset()
}

// Gap says that bytes of the stream are missing here. What is held of the
// current line is dropped, and so is everything up to the next line end.
func (s *Splitter) Gap() {
	s.reset()
	s.skip = true
}

func (s *Splitter) reset() {
	if cap(s.buf) > keepBuffer {
		s.buf = nil
	}
	s.buf, s.over, s.skip = s.buf[:0], 0, false
}

func trimCR(p []byte) []byte {
	if n := len(p); n > 0 && p[n-1] == '\r' {
		return p[:n-1]
	}
	return p
}
