package tlsread

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

func event(family uint16, data string) []byte {
	n := binary.NativeEndian
	b := make([]byte, headSize, headSize+len(data))
	n.PutUint64(b, 1000)
	n.PutUint64(b[8:], 7)
	n.PutUint64(b[16:], 3)
	n.PutUint32(b[24:], 12)
	n.PutUint32(b[28:], 11)
	n.PutUint32(b[32:], 2)
	n.PutUint32(b[36:], uint32(Sent))
	n.PutUint32(b[40:], flagWhole|flagLost)
	n.PutUint32(b[44:], uint32(len(data)))
	copy(b[48:], []byte{192, 168, 1, 2})
	copy(b[64:], []byte{198, 18, 0, 9})
	n.PutUint16(b[80:], 40000)
	n.PutUint16(b[82:], 443)
	n.PutUint16(b[84:], family)
	return append(b, data...)
}

func TestPiece(t *testing.T) {
	t.Parallel()
	var p Piece
	if err := p.read(append(event(familyInet, "text"), "what a larger place leaves over"...)); err != nil {
		t.Fatal(err)
	}
	if p.Kind != Sent || p.Time != time.Microsecond || p.Conn != 7 || p.Offset != 3 || p.Thread != 12 || p.PID != 11 || p.Task != 2 || string(p.Data) != "text" {
		t.Errorf("%+v", p)
	}
	if !p.Whole || p.Cut || !p.Lost {
		t.Errorf("%+v", p)
	}
	if p.Source != netip.MustParseAddrPort("192.168.1.2:40000") || p.Dest != netip.MustParseAddrPort("198.18.0.9:443") {
		t.Errorf("%v to %v", p.Source, p.Dest)
	}
	if err := p.read(event(0, "")); err != nil || p.Source.IsValid() || p.Dest.IsValid() {
		t.Errorf("%v: %+v", err, p)
	}
}

// No event makes the reader look beyond its end.
func FuzzPiece(f *testing.F) {
	f.Add(event(familyInet, "text"))
	f.Add(event(familyInet6, ""))
	f.Add(make([]byte, headSize-1))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Piece
		if err := p.read(b); err == nil && len(p.Data) > len(b)-headSize {
			t.Errorf("%d bytes of %d", len(p.Data), len(b))
		}
	})
}
