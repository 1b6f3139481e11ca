package sinkhole

import "encoding/binary"

// The frames of HTTP/2 by which a server says that it did not understand.
const (
	frameReset  = 3
	frameGoAway = 7
)

// frameWatch reads the frames that go to a client. What a server of HTTP/2 does
// not understand no handler gets to see; that it tells the client is the only sign.
type frameWatch struct {
	head [9]byte
	n    int    // bytes of head
	left int    // bytes of the payload still to come
	code []byte // the payload's first bytes, of the frames that matter
	// broken is told the error's code, and whether it ends the connection.
	broken func(code uint32, all bool)
}

func (w *frameWatch) sent(p []byte) {
	for len(p) > 0 {
		if w.left == 0 || w.n < len(w.head) {
			n := copy(w.head[w.n:], p)
			w.n, p = w.n+n, p[n:]
			if w.n < len(w.head) {
				return
			}
			w.left, w.code = int(w.head[0])<<16|int(w.head[1])<<8|int(w.head[2]), w.code[:0]
			if w.left == 0 {
				w.n = 0
			}
			continue
		}
		n := min(w.left, len(p))
		if room := 8 - len(w.code); room > 0 {
			w.code = append(w.code, p[:min(n, room)]...)
		}
		w.left, p = w.left-n, p[n:]
		if w.left == 0 {
			w.judge()
			w.n = 0
		}
	}
}

func (w *frameWatch) judge() {
	switch t := w.head[3]; {
	case t == frameReset && len(w.code) >= 4:
		if code := binary.BigEndian.Uint32(w.code); code != 0 {
			w.broken(code, false)
		}
	case t == frameGoAway && len(w.code) >= 8:
		if code := binary.BigEndian.Uint32(w.code[4:]); code != 0 {
			w.broken(code, true)
		}
	}
}
