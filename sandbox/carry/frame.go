package carry

import (
	"encoding/binary"
	"fmt"
)

// The kinds of a frame.
const (
	// kindOpened says that the host was reached. Host to agent only.
	kindOpened = byte(1 + iota)
	// kindData is bytes of a stream, or one datagram.
	kindData
	// kindEnd says that no more data follows in this direction.
	kindEnd
	// kindClose ends both directions; its data is the reason, or empty.
	kindClose
	// kindCredit says that as much as its four bytes count was passed on.
	kindCredit
	kinds
)

const (
	headerSize = 8 + 1
	// maxChunk bounds the data of a frame: the largest datagram.
	maxChunk = 64 << 10
	// maxReason bounds the text of a kindClose.
	maxReason = 240
)

// frame is one piece of one connection, the payload of a mux.Carried frame.
type frame struct {
	id   int64
	kind byte
	data []byte
}

func (f frame) encode() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, headerSize+len(f.data)), uint64(f.id))
	return append(append(b, f.kind), f.data...)
}

// decode reads what another side wrote, and believes none of it.
func decode(p []byte) (frame, error) {
	if len(p) < headerSize {
		return frame{}, fmt.Errorf("a carried frame of %d bytes", len(p))
	}
	f := frame{id: int64(binary.LittleEndian.Uint64(p)), kind: p[8], data: p[headerSize:]}
	bound := map[byte]int{kindData: maxChunk, kindClose: maxReason, kindCredit: 4}[f.kind]
	switch {
	case f.id <= 0:
		return frame{}, fmt.Errorf("a carried frame of connection %d", f.id)
	case f.kind == 0 || f.kind >= kinds:
		return frame{}, fmt.Errorf("a carried frame of unknown kind %d", f.kind)
	case len(f.data) > bound || f.kind == kindCredit && len(f.data) != bound:
		return frame{}, fmt.Errorf("a carried frame of kind %d with %d bytes", f.kind, len(f.data))
	}
	return f, nil
}
