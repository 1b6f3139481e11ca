package profile

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// sender writes HTTP/2 as a client does.
type sender struct {
	*http2.Framer
	out    bytes.Buffer
	fields bytes.Buffer
	enc    *hpack.Encoder
}

func newSender() *sender {
	s := &sender{}
	s.out.WriteString(preface)
	s.Framer = http2.NewFramer(&s.out, nil)
	s.AllowIllegalWrites = true
	s.enc = hpack.NewEncoder(&s.fields)
	_ = s.WriteSettings() // a buffer takes everything
	return s
}

// block encodes the fields of a request.
func (s *sender) block(fields ...string) []byte {
	s.fields.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = s.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(s.fields.Bytes())
}

func (s *sender) head(id uint32, end bool, fields ...string) {
	_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.block(fields...), EndHeaders: end})
}

func (s *sender) view() *view {
	v := &view{}
	v.add(s.out.Bytes(), time.Second)
	return v
}

var posted = []string{":method", "POST", ":scheme", "https", ":authority", "a.example", ":path", "/x", "x-key", plainDecoy}

func TestHTTP2IsUnpacked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		send  func(*sender)
		whole bool
		want  []string
	}{
		{"a request", func(s *sender) { s.head(1, true, posted...); _ = s.WriteData(1, true, []byte("body")) }, true,
			[]string{"POST /x HTTP/1.1\r\nHost: a.example\r\nX-Key: " + plainDecoy + "\r\nContent-Length: 4\r\n\r\nbody"}},
		{"two at a time, of one table", func(s *sender) {
			s.head(1, true, posted...)
			s.head(3, true, posted...)
			_ = s.WriteData(1, false, []byte("o"))
			_ = s.WriteData(3, true, []byte("t"))
			_ = s.WriteData(1, true, []byte("ne"))
		}, true, []string{"Content-Length: 3\r\n\r\none", "Content-Length: 1\r\n\r\nt"}},
		{"in parts", func(s *sender) {
			b := s.block(posted...)
			_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: b[:3], PadLength: 7, Priority: http2.PriorityParam{Weight: 1}})
			_ = s.WriteContinuation(1, true, b[3:])
			_ = s.WriteDataPadded(1, true, []byte("body"), make([]byte, 9))
		}, true, []string{plainDecoy, "\r\n\r\nbody"}},
		{"trailers", func(s *sender) {
			s.head(1, true, posted...)
			s.head(1, true, "x-sum", "7")
		}, true, []string{"X-Sum: 7\r\n"}},
		{"text in padding", func(s *sender) {
			s.head(1, true, posted...)
			_ = s.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte("\x06bodysecret"))
		}, false, []string{plainDecoy}},
		{"an extension", func(s *sender) { s.head(1, true, posted...); _ = s.WriteRawFrame(0xaa, 0, 0, []byte("secret")) }, false, []string{plainDecoy}},
		{"text in a farewell", func(s *sender) { s.head(1, true, posted...); _ = s.WriteGoAway(1, 0, []byte("secret")) }, false, []string{plainDecoy}},
		{"many pings", func(s *sender) {
			s.head(1, true, posted...)
			for range 200 {
				_ = s.WritePing(false, [8]byte{1})
			}
		}, false, []string{plainDecoy}},
		{"a head that injects another", func(s *sender) { s.head(1, true, append(posted, "x-a", "b\r\nX-B: c")...) }, false, nil},
		{"a head that does not end", func(s *sender) { s.head(1, false, posted...) }, false, nil},
		{"a head within another", func(s *sender) { s.head(1, false, posted...); s.head(3, true, posted...) }, false, nil},
		{"a table that is no table", func(s *sender) {
			_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff, 0xff, 0x7f}, EndHeaders: true})
		}, false, nil},
		{"data without a head", func(s *sender) { _ = s.WriteData(1, true, []byte("body")) }, false, nil},
		{"fields that grow", func(s *sender) {
			big := []string{"x-big", strings.Repeat("a", 3000)}
			for i := range uint32(3000) {
				s.head(2*i+1, true, append(posted[:8:8], big...)...)
			}
		}, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSender()
			c.send(s)
			got, whole := unpackHTTP2(s.view())
			if whole != c.whole {
				t.Errorf("whole %v", whole)
			}
			if len(got.data) > 2*maxUnpacked {
				t.Errorf("%d bytes of %d", len(got.data), s.out.Len())
			}
			for _, want := range c.want {
				if !bytes.Contains(got.data, []byte(want)) {
					t.Errorf("%q is not in %q", want, got.data)
				}
			}
			if cut := s.view(); whole {
				cut.data = cut.data[:len(cut.data)-1]
				if _, whole := unpackHTTP2(cut); whole {
					t.Error("a frame that is cut counts as read")
				}
			}
		})
	}
}

func FuzzHTTP2(f *testing.F) {
	s := newSender()
	s.head(1, true, posted...)
	_ = s.WriteData(1, true, []byte("body"))
	f.Add(s.out.Bytes()[len(preface):])
	f.Fuzz(func(t *testing.T, data []byte) {
		v := &view{}
		v.add(append([]byte(preface), data...), time.Second)
		got, whole := unpackHTTP2(v)
		if len(got.data) > 0 && len(got.at) == 0 || len(got.data) > 2*maxUnpacked {
			t.Errorf("%d bytes with %d moments", len(got.data), len(got.at))
		}
		if whole {
			for i, m := range sequence(got.data) {
				if m.header == nil && len(m.body) > 0 {
					t.Errorf("part %d is no request: %q", i, m.body)
				}
			}
		}
	})
}
