package reassembly

import (
	"bytes"
	"strconv"
	"time"
)

// The states of a half.
const (
	inHead = iota
	inBody
	inChunkSize
	inChunk
	inTrailer
	toTheEnd
	lostWay
)

const (
	// maxHead bounds a request's or an answer's head.
	maxHead = 64 << 10
	// What a head says of the length of its body, where that is no number.
	chunked   = -1
	untilOver = -2
	noHTTP    = -3
)

// body takes what stands in a message of HTTP.
type body interface {
	// data takes the next bytes, which are valid until it returns.
	data(p []byte)
	// missing says that n bytes are missing here.
	missing(n int64)
	// over says that the body has ended; whole is false where the stream ended first.
	over(whole bool)
}

// half reads one direction of a connection: heads and bodies of HTTP/1.1 (RFC 9112).
type half struct {
	// head reads a head and says who takes the body, and its length.
	head func(block []byte) (body, int64)
	// whole is told of each message that is over.
	whole func()
	// lost says that the half has lost its way: it needs to begin at a head again.
	lost func()

	now   time.Duration
	state int
	buf   []byte
	left  int64
	to    body
}

// feed takes the next bytes.
func (h *half) feed(p []byte) {
	for len(p) > 0 {
		switch h.state {
		case inHead:
			p = h.inHead(p)
		case inBody, inChunk:
			n := int(min(int64(len(p)), h.left))
			h.to.data(p[:n])
			p = p[n:]
			if h.left -= int64(n); h.left > 0 {
				continue
			}
			if h.state == inChunk {
				h.state = inChunkSize
			} else {
				h.over(true)
			}
		case inChunkSize, inTrailer:
			p = h.inLine(p)
		case toTheEnd:
			h.to.data(p)
			return
		default:
			return
		}
	}
}

// inHead takes bytes of a head and returns what is behind it.
func (h *half) inHead(p []byte) []byte {
	if len(h.buf) == 0 {
		p = bytes.TrimLeft(p, "\r\n")
	}
	from := max(0, len(h.buf)-3)
	had := len(h.buf)
	h.buf = append(h.buf, p...)
	i := bytes.Index(h.buf[from:], []byte("\r\n\r\n"))
	if i < 0 {
		if len(h.buf) > maxHead {
			h.lose()
		}
		return nil
	}
	end := from + i + 4
	rest := p[end-had:]
	to, n := h.head(h.buf[:end])
	h.buf = h.buf[:0]
	h.to = to
	switch n {
	case noHTTP:
		h.lose()
		return nil
	case chunked:
		h.state = inChunkSize
	case untilOver:
		h.state = toTheEnd
	case 0:
		h.over(true)
	default:
		h.state, h.left = inBody, n
	}
	return rest
}

// inLine takes bytes of a line between chunks, or of the trailer.
func (h *half) inLine(p []byte) []byte {
	i := bytes.IndexByte(p, '\n')
	if i < 0 {
		h.buf = append(h.buf, p...)
		if len(h.buf) > maxHead {
			h.lose()
		}
		return nil
	}
	h.buf = append(h.buf, p[:i]...)
	line := string(bytes.TrimSpace(h.buf))
	h.buf = h.buf[:0]
	switch {
	case h.state == inTrailer && line == "":
		h.over(true)
	case h.state == inTrailer, line == "": // the line end behind a chunk
	default:
		size, _, _ := bytes.Cut([]byte(line), []byte(";"))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 62)
		switch {
		case err != nil:
			h.lose()
			return nil
		case n == 0:
			h.state = inTrailer
		default:
			h.state, h.left = inChunk, int64(n)
		}
	}
	return p[i+1:]
}

// over ends a message and waits for the next head.
func (h *half) over(whole bool) {
	to := h.to
	h.to, h.state, h.left = nil, inHead, 0
	h.whole()
	if to != nil {
		to.over(whole)
	}
}

// skip passes bytes that are missing. Within a body it still knows where it is.
func (h *half) skip(n int64) {
	switch {
	case h.state == toTheEnd:
		h.to.missing(n)
	case (h.state == inBody || h.state == inChunk) && n <= h.left:
		h.to.missing(n)
		if h.left -= n; h.left == 0 {
			if h.state == inChunk {
				h.state = inChunkSize
			} else {
				h.over(true)
			}
		}
	default:
		h.lose()
	}
}

// lose gives up until a head begins.
func (h *half) lose() {
	if h.to != nil {
		h.over(false)
	}
	if h.state != lostWay {
		h.state, h.buf = lostWay, nil
		h.lost()
	}
}

// end says that the stream is over.
func (h *half) end() {
	switch h.state {
	case toTheEnd:
		h.over(true)
	case inHead, lostWay:
	default:
		h.over(false)
	}
	h.state, h.buf = lostWay, nil
}
