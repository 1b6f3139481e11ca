package profile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2/hpack"
)

// The bounds of what HTTP/2 is unpacked to: a field of the header may be a byte that stands for
// thousands.
const (
	maxUnpacked    = 4 << 20
	maxHeaderTable = 64 << 10
	maxStreams     = 4096
	// maxControl bounds the bytes of a connection that carry no request and that nobody reads.
	maxControl = 1 << 10
)

// The types and flags of frames (RFC 9113, section 6).
const (
	frameData = iota
	frameHeaders
	framePriority
	frameReset
	frameSettings
	framePush
	framePing
	frameGoAway
	frameWindow
	frameContinuation

	flagEndHeaders  = 0x4
	flagPadded      = 0x8
	flagPriority    = 0x20
	frameHeaderSize = 9
	preface         = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// unpacked is what a client sent over HTTP/2, as requests of HTTP/1.1.
type unpacked struct {
	decoder *hpack.Decoder
	streams map[uint32]*stream2
	order   []*stream2
	size    int
	control int
	// block are the fields of a header that is not complete, of a stream; open says so.
	block  []byte
	of     uint32
	open   bool
	fields []hpack.HeaderField
	// odd says that something could not be read, or would be read differently by others.
	odd bool
}

// stream2 is one request.
type stream2 struct {
	method, path, host string
	lines              []string
	body               []byte
	began              time.Duration
	at                 []moment // in the body
}

// unpackHTTP2 takes apart what a client sent over HTTP/2. whole says that all of it stands in the
// requests that it returns; else they are what could be read.
func unpackHTTP2(v *view) (out view, whole bool) {
	u := unpacked{streams: map[uint32]*stream2{}}
	u.decoder = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if u.size += len(f.Name) + len(f.Value); u.size <= maxUnpacked {
			u.fields = append(u.fields, f)
		}
	})
	u.decoder.SetAllowedMaxDynamicTableSize(maxHeaderTable)
	u.decoder.SetMaxStringLength(maxHeaderTable)
	data := v.data
	if !hasPrefix(data, preface) {
		return out, false
	}
	at := len(preface)
	for at < len(data) && !u.odd && u.size <= maxUnpacked {
		left := data[at:]
		if len(left) < frameHeaderSize {
			u.odd = true
			break
		}
		size := int(left[0])<<16 | int(left[1])<<8 | int(left[2])
		if len(left) < frameHeaderSize+size {
			u.odd = true
			break
		}
		u.frame(left[3], left[4], binary.BigEndian.Uint32(left[5:])&0x7fffffff, left[frameHeaderSize:frameHeaderSize+size], v.when(int64(at)))
		at += frameHeaderSize + size
	}
	out = u.requests()
	return out, !u.odd && !u.open && u.size <= maxUnpacked && u.control <= maxControl && isSequence(out.data)
}

// isSequence reports whether all of it are requests of HTTP/1.1 that can be read.
func isSequence(data []byte) bool {
	for _, m := range sequence(data) {
		if m.header == nil && len(m.body) > 0 {
			return false
		}
	}
	return true
}

// frame takes a frame of a stream.
func (u *unpacked) frame(kind, flags byte, id uint32, payload []byte, at time.Duration) {
	if u.open && (kind != frameContinuation || id != u.of) {
		u.odd = true
		return
	}
	switch kind {
	case frameData:
		u.data(id, u.unpadded(flags, payload), at)
	case frameHeaders:
		payload = u.unpadded(flags, payload)
		if flags&flagPriority != 0 {
			if len(payload) < 5 {
				u.odd = true
				return
			}
			payload = payload[5:]
		}
		u.block, u.of, u.open = bytes.Clone(payload), id, true
		u.headers(flags, at)
	case frameContinuation:
		if !u.open {
			u.odd = true
			return
		}
		u.block = append(u.block, payload...)
		u.headers(flags, at)
	case frameSettings, frameWindow, framePriority, frameReset, framePing:
		u.control += len(payload)
	case frameGoAway:
		u.control += len(payload)
		u.odd = u.odd || len(payload) > 8 // text for a reader of its own
	default: // an extension: what it carries only its reader knows
		u.odd = true
	}
}

// unpadded takes a frame's padding off, which has to be empty.
func (u *unpacked) unpadded(flags byte, payload []byte) []byte {
	if flags&flagPadded == 0 {
		return payload
	}
	if len(payload) == 0 || int(payload[0]) >= len(payload) {
		u.odd = true
		return nil
	}
	end := len(payload) - int(payload[0])
	u.odd = u.odd || len(bytes.Trim(payload[end:], "\x00")) > 0
	return payload[1:end]
}

// stream is a request, nil where there is no room for it.
func (u *unpacked) stream(id uint32, at time.Duration) *stream2 {
	s := u.streams[id]
	if s == nil {
		if id == 0 || len(u.order) >= maxStreams {
			u.odd = true
			return nil
		}
		s = &stream2{began: at}
		u.streams[id] = s
		u.order = append(u.order, s)
	}
	return s
}

func (u *unpacked) data(id uint32, data []byte, at time.Duration) {
	s := u.stream(id, at)
	if u.size += len(data); s == nil || u.size > maxUnpacked {
		return
	}
	if s.method == "" {
		u.odd = true // nobody takes it
	}
	s.at = append(s.at, moment{int64(len(s.body)), at})
	s.body = append(s.body, data...)
}

// headers decodes a header where it is complete.
func (u *unpacked) headers(flags byte, at time.Duration) {
	if len(u.block) > maxUnpacked {
		u.odd = true
	}
	if flags&flagEndHeaders == 0 || u.odd {
		return
	}
	u.open, u.fields = false, u.fields[:0]
	if _, err := u.decoder.Write(u.block); err != nil || u.decoder.Close() != nil {
		u.odd = true
	}
	s := u.stream(u.of, at)
	if s == nil {
		return
	}
	for _, f := range u.fields {
		s.field(u, f)
	}
}

// field adds a field to a request. One that a head of HTTP/1.1 would not have is left out, and
// what was sent is not wholly read then.
func (s *stream2) field(u *unpacked, f hpack.HeaderField) {
	if !httpguts.ValidHeaderFieldValue(f.Value) {
		u.odd = true
		return
	}
	switch f.Name {
	case ":method":
		s.method = f.Value
	case ":path":
		s.path = f.Value
	case ":authority":
		s.host = f.Value
	case ":scheme":
	case "content-length", "transfer-encoding", "connection", "upgrade": // the frames say how long it is
	default:
		if !httpguts.ValidHeaderFieldName(f.Name) {
			u.odd = true
			return
		}
		s.lines = append(s.lines, http.CanonicalHeaderKey(f.Name)+": "+f.Value)
	}
}

// requests writes the requests one after another, with the moments at which they were sent.
func (u *unpacked) requests() (out view) {
	for _, s := range u.order {
		if strings.ContainsAny(s.method+s.path, " \t") {
			u.odd = true
		}
		head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n", s.method, s.path, s.host)
		for _, l := range s.lines {
			head += l + "\r\n"
		}
		out.add([]byte(head+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(s.body))), s.began)
		for i, m := range s.at {
			end := int64(len(s.body))
			if i+1 < len(s.at) {
				end = s.at[i+1].offset
			}
			out.add(s.body[m.offset:end], m.time)
		}
	}
	return out
}
