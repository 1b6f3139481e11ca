package plaintext

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/coalmine-dev/coalmine/sandbox/trace/tlsread"
)

const (
	// frameHead is the size of a frame's head (RFC 9113, section 4.1).
	frameHead = 9
	// maxFrame bounds a frame, and maxFields a message's head.
	maxFrame  = 1 << 20
	maxFields = 64 << 10
	// maxExchanges bounds those that are open at a time.
	maxExchanges = 256
	// unread is why what such a connection carries is missing.
	unread = "HTTP/2 connections could not be read to their end"
)

// conn2 is a connection of HTTP/2.
type conn2 struct {
	c         *Connections
	of        *connection
	sent, got *frames
	open      map[uint32]*exchange
	slots     []bool // the numbers that exchanges have
	broken    bool
}

// frames are those of one direction.
type frames struct {
	raw    *stream
	buf    []byte
	next   int64
	fields *hpack.Decoder
	// head is a head that goes on in the next frame, of the exchange headOf; ends says that nothing follows it.
	head   []byte
	headOf uint32
	ends   bool
	opened bool // the preface was passed
}

// exchange is a request and its answer, each as a stream of HTTP/1.1.
type exchange struct {
	slot      int
	sent, got *stream
	// over says which of them has ended, and begun whose head was written.
	over, begun [2]bool
}

// begins reports whether HTTP/2 begins here: a client's preface, or a server's settings.
func begins(data []byte) bool {
	if bytes.HasPrefix(data, []byte(http2.ClientPreface)) {
		return true
	}
	return len(data) >= frameHead && http2.FrameType(data[3]) == http2.FrameSettings && data[4] == 0 && binary.BigEndian.Uint32(data[5:]) == 0 && size(data)%6 == 0 && size(data) <= 1024
}

// size is the length of a frame behind its head.
func size(head []byte) int { return int(head[0])<<16 | int(head[1])<<8 | int(head[2]) }

func newHTTP2(c *Connections, of *connection) *conn2 {
	made := func(s *stream) *frames {
		d := hpack.NewDecoder(4096, nil)
		d.SetAllowedMaxDynamicTableSize(maxFields)
		d.SetMaxStringLength(maxFields)
		return &frames{raw: s, fields: d}
	}
	return &conn2{c: c, of: of, sent: made(of.sent), got: made(of.got), open: map[uint32]*exchange{}}
}

// feed takes the next piece of one direction.
func (h *conn2) feed(s *stream, p *tlsread.Piece) {
	f := h.got
	if s == h.of.sent {
		f = h.sent
	}
	switch {
	case h.broken:
		return
	case p.Offset != f.next || p.Cut || p.Lost: // its table of fields cannot be followed any more
		h.fail(p.Time)
		return
	}
	f.next += int64(len(p.Data))
	f.buf = append(f.buf, p.Data...)
	if !f.opened && bytes.HasPrefix(f.buf, []byte(http2.ClientPreface)) {
		f.buf = f.buf[len(http2.ClientPreface):]
	}
	f.opened = true
	for len(f.buf) >= frameHead && !h.broken {
		n := size(f.buf)
		if n > maxFrame {
			h.fail(p.Time)
			return
		}
		if len(f.buf) < frameHead+n {
			return
		}
		if err := h.frame(f, p.Time, f.buf[:frameHead], f.buf[frameHead:frameHead+n]); err != nil {
			h.fail(p.Time)
			return
		}
		f.buf = f.buf[frameHead+n:]
	}
	if len(f.buf) == 0 {
		f.buf = nil
	}
}

// frame takes one frame.
func (h *conn2) frame(f *frames, at time.Duration, head, body []byte) error {
	kind, flags, id := http2.FrameType(head[3]), http2.Flags(head[4]), binary.BigEndian.Uint32(head[5:])&(1<<31-1)
	switch kind {
	case http2.FrameHeaders, http2.FramePushPromise, http2.FrameContinuation:
		return h.fieldsOf(f, at, kind, flags, id, body)
	case http2.FrameData:
		body, err := unpadded(flags, body)
		if err != nil {
			return err
		}
		h.body(f, at, id, body, flags.Has(http2.FlagDataEndStream))
	case http2.FrameRSTStream:
		h.reset(id, at)
	}
	return nil
}

var errFrame = errors.New("a frame of HTTP/2 is malformed")

// unpadded is a frame's text without its padding.
func unpadded(flags http2.Flags, body []byte) ([]byte, error) {
	if !flags.Has(http2.FlagDataPadded) {
		return body, nil
	}
	if len(body) == 0 || int(body[0]) >= len(body) {
		return nil, errFrame
	}
	return body[1 : len(body)-int(body[0])], nil
}

// fieldsOf takes a head, or a part of one.
func (h *conn2) fieldsOf(f *frames, at time.Duration, kind http2.FrameType, flags http2.Flags, id uint32, body []byte) error {
	if kind != http2.FrameContinuation {
		var err error
		if body, err = unpadded(flags, body); err != nil {
			return err
		}
		skip := 0
		switch {
		case kind == http2.FramePushPromise:
			skip, id = 4, 0 // what a server promises nobody asked for
		case flags.Has(http2.FlagHeadersPriority):
			skip = 5
		}
		if len(body) < skip {
			return errFrame
		}
		f.head, f.headOf, f.ends = nil, id, kind == http2.FrameHeaders && flags.Has(http2.FlagHeadersEndStream)
		body = body[skip:]
	}
	if len(f.head)+len(body) > maxFields {
		return errFrame
	}
	f.head = append(f.head, body...)
	if !flags.Has(http2.FlagHeadersEndHeaders) {
		return nil
	}
	fields, err := f.fields.DecodeFull(f.head)
	f.head = nil
	if err != nil {
		return fmt.Errorf("a head of HTTP/2: %w", err)
	}
	if f.headOf != 0 {
		h.head(f, at, f.headOf, fields, f.ends)
	}
	return nil
}

// head begins a message, or ends one by its trailer.
func (h *conn2) head(f *frames, at time.Duration, id uint32, fields []hpack.HeaderField, ends bool) {
	line, request := first(fields)
	x := h.open[id]
	if x == nil {
		if line == "" || !request || len(h.open) >= maxExchanges {
			return
		}
		x = h.exchange(id)
	}
	s, way := x.way(f == h.sent)
	switch {
	case x.begun[way] && ends: // a trailer
		h.write(s, at, "0\r\n\r\n")
	case x.begun[way], line == "":
	case ends:
		x.begun[way] = true
		h.write(s, at, line+"Content-Length: 0\r\n\r\n")
	default:
		x.begun[way] = true
		h.write(s, at, line+"Transfer-Encoding: chunked\r\n\r\n")
	}
	if ends {
		h.over(id, x, way)
	}
}

// kept are the fields that matter to MCP's transports.
var kept = []string{"accept", "content-type", "content-encoding", "mcp-session-id", "mcp-protocol-version", "last-event-id"}

// first is the first line of a message with the fields that matter, "" for none and for news such as 103.
func first(fields []hpack.HeaderField) (text string, request bool) {
	pseudo := map[string]string{}
	var b strings.Builder
	for _, f := range fields {
		switch {
		case strings.ContainsAny(f.Value, "\r\n\x00"):
		case f.IsPseudo():
			pseudo[f.Name] = f.Value
		case slices.Contains(kept, f.Name):
			fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
		}
	}
	switch method, status := pseudo[":method"], pseudo[":status"]; {
	case method != "" && pseudo[":path"] != "" && !strings.ContainsAny(method+pseudo[":path"], " \t"):
		return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s", method, pseudo[":path"], pseudo[":authority"], b.String()), true
	case len(status) == 3 && status >= "200":
		return fmt.Sprintf("HTTP/1.1 %s -\r\n%s", status, b.String()), false
	}
	return "", false
}

// exchange opens one.
func (h *conn2) exchange(id uint32) *exchange {
	slot := slices.Index(h.slots, false)
	if slot < 0 {
		slot = len(h.slots)
		h.slots = append(h.slots, false)
	}
	h.slots[slot] = true
	x := &exchange{slot: slot, sent: h.slotOf(h.of.sent, slot), got: h.slotOf(h.of.got, slot)}
	h.open[id] = x
	return x
}

// slotOf is the stream of a slot: exchanges that follow each other have one.
func (h *conn2) slotOf(raw *stream, slot int) *stream {
	key := raw.key
	key.NetNS = uint32(slot) + 1 // nothing else uses it with TLS
	s := h.c.streams[key]
	if s == nil {
		s = &stream{key: key, read: raw.read}
		h.c.streams[key] = s
	}
	s.state, s.again = looking, false
	return s
}

func (x *exchange) way(sent bool) (*stream, int) {
	if sent {
		return x.sent, 0
	}
	return x.got, 1
}

func (h *conn2) write(s *stream, at time.Duration, text string) {
	h.c.put(s, at, []byte(text), h.of.owner.process)
}

// body takes a part of a body.
func (h *conn2) body(f *frames, at time.Duration, id uint32, data []byte, ends bool) {
	x := h.open[id]
	if x == nil {
		return
	}
	s, way := x.way(f == h.sent)
	if len(data) > 0 {
		h.write(s, at, fmt.Sprintf("%x\r\n%s\r\n", len(data), data))
	}
	if ends {
		h.write(s, at, "0\r\n\r\n")
		h.over(id, x, way)
	}
}

// over ends a message, and the exchange with its second one.
func (h *conn2) over(id uint32, x *exchange, way int) {
	x.over[way] = true
	if x.over[0] && x.over[1] {
		delete(h.open, id)
		h.slots[x.slot] = false
	}
}

// reset breaks an exchange off.
func (h *conn2) reset(id uint32, at time.Duration) {
	x := h.open[id]
	if x == nil {
		return
	}
	who := h.of.owner.process
	h.c.finish(x.sent, at, who)
	h.c.finish(x.got, at, who)
	delete(h.open, id)
	h.slots[x.slot] = false
}

// fail gives up a connection whose frames cannot be told any more.
func (h *conn2) fail(at time.Duration) {
	h.c.o.Lose(1, unread)
	h.end(at)
	h.broken = true
}

// end breaks off what is open.
func (h *conn2) end(at time.Duration) {
	for id := range h.open {
		h.reset(id, at)
	}
	for slot := range h.slots {
		for _, raw := range []*stream{h.of.sent, h.of.got} {
			key := raw.key
			key.NetNS = uint32(slot) + 1
			delete(h.c.streams, key)
		}
	}
	h.slots = nil
	h.sent.buf, h.got.buf, h.sent.head, h.got.head = nil, nil, nil, nil
}
