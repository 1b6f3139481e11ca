package mux

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// Stream says what a frame's payload is.
type Stream byte

// The streams.
const (
	Control Stream = iota
	Stdin
	Stdout
	Stderr
	Trace
	Flows
	Conns
	streams
)

// String names the stream for messages.
func (s Stream) String() string {
	names := [...]string{"control", "stdin", "stdout", "stderr", "trace", "flows", "connections"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("stream %d", byte(s))
}

// MaxPayload bounds one frame's payload.
const MaxPayload = 256 << 10

const (
	magic      = 0xC7
	headerSize = 1 + 1 + 8 + 4
)

// Frame is one piece of one stream.
type Frame struct {
	Stream Stream
	// Stamp is the agent's monotonic clock when the payload was read; zero from the host.
	Stamp   time.Duration
	Payload []byte
}

// Writer writes frames, each with a single Write, from any goroutine.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
	err error
}

// NewWriter returns a Writer on w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends one frame. The first failure is final: a stream that was cut
// inside a frame cannot be continued.
func (w *Writer) Write(f Frame) error {
	if len(f.Payload) > MaxPayload {
		return fmt.Errorf("mux: a %s frame of %d bytes is over the bound of %d", f.Stream, len(f.Payload), MaxPayload)
	}
	if f.Stream >= streams {
		return fmt.Errorf("mux: write to unknown %s", f.Stream)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(appendHeader(w.buf[:0], f.Stream, f.Stamp, len(f.Payload)), f.Payload...)
	return w.write(f.Stream, w.buf)
}

// write sends an encoded frame; the lock is held.
func (w *Writer) write(s Stream, frame []byte) error {
	if w.err != nil {
		return w.err
	}
	if _, err := w.w.Write(frame); err != nil {
		w.err = fmt.Errorf("mux: write a %s frame: %w", s, err)
	}
	return w.err
}

func appendHeader(b []byte, s Stream, stamp time.Duration, size int) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, magic, byte(s)), uint64(stamp))
	return binary.LittleEndian.AppendUint32(b, uint32(size))
}

// Reader reads frames from a side that may lie.
type Reader struct {
	r      *bufio.Reader
	buf    []byte
	offset int64
	err    error
}

// NewReader returns a Reader on r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next frame; its payload is valid until the following call.
// It returns io.EOF only between frames. Errors are final: nothing after a
// malformed frame can be told apart from payload.
func (r *Reader) Next() (Frame, error) {
	if r.err != nil {
		return Frame{}, r.err
	}
	f, err := r.next()
	if err != nil {
		r.err = err
		return Frame{}, err
	}
	return f, nil
}

func (r *Reader) next() (Frame, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r.r, h[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return Frame{}, io.EOF
		}
		return Frame{}, r.fail("read a frame's header", err)
	}
	if h[0] != magic {
		return Frame{}, r.fail(fmt.Sprintf("byte %#02x where a frame begins", h[0]), nil)
	}
	stream, stamp, size := Stream(h[1]), binary.LittleEndian.Uint64(h[2:]), binary.LittleEndian.Uint32(h[10:])
	switch {
	case stream >= streams:
		return Frame{}, r.fail("a frame of unknown "+stream.String(), nil)
	case size > MaxPayload:
		return Frame{}, r.fail(fmt.Sprintf("a %s frame of %d bytes is over the bound of %d", stream, size, MaxPayload), nil)
	case stamp > math.MaxInt64:
		return Frame{}, r.fail(fmt.Sprintf("a %s frame with a negative stamp", stream), nil)
	}
	if cap(r.buf) < int(size) {
		r.buf = make([]byte, size)
	}
	r.buf = r.buf[:size]
	if _, err := io.ReadFull(r.r, r.buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Frame{}, r.fail(fmt.Sprintf("read a %s frame's %d bytes", stream, size), err)
	}
	r.offset += headerSize + int64(size)
	return Frame{Stream: stream, Stamp: time.Duration(stamp), Payload: r.buf}, nil
}

func (r *Reader) fail(what string, err error) error {
	if err == nil {
		return fmt.Errorf("mux: at offset %d: %s", r.offset, what)
	}
	return fmt.Errorf("mux: at offset %d: %s: %w", r.offset, what, err)
}
