package sinkhole

import (
	"crypto/sha1" //nolint:gosec // RFC 6455 demands it; nothing is protected by it
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
)

func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && r.Header.Get("Sec-Websocket-Key") != ""
}

// acceptKey answers the key of a client's handshake.
func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // see the import
	return base64.StdEncoding.EncodeToString(sum[:])
}

// The opcodes that are looked at.
const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
)

var errFrame = errors.New("a malformed WebSocket frame")

// frames reads a client's frames until the connection ends or the client says
// so. data gets the unmasked payload of a frame in parts; the last part of a message has end.
// No frame is held whole but a control frame, of at most 125 bytes.
func frames(r io.Reader, buf []byte, data func(op byte, p []byte, end bool), answer func(op byte, p []byte)) error {
	var head [14]byte
	for {
		if _, err := io.ReadFull(r, head[:2]); err != nil {
			return err
		}
		op, size := head[0]&15, uint64(head[1]&127)
		masked, last := head[1]&128 != 0, head[0]&128 != 0
		if extra := map[uint64]int{126: 2, 127: 8}[size]; extra > 0 {
			if _, err := io.ReadFull(r, head[:extra]); err != nil {
				return err
			}
			size = uint64(binary.BigEndian.Uint16(head[:2]))
			if extra == 8 {
				size = binary.BigEndian.Uint64(head[:8])
			}
		}
		var mask [4]byte
		if masked {
			if _, err := io.ReadFull(r, mask[:]); err != nil {
				return err
			}
		}
		if op >= opClose && size > 125 || size>>63 != 0 {
			return errFrame
		}
		done, err := payload(r, buf, size, mask, op, func(p []byte, end bool) { data(op, p, end && last) }, answer)
		if done || err != nil {
			return err
		}
	}
}

// payload reads one frame's bytes.
func payload(r io.Reader, buf []byte, size uint64, mask [4]byte, op byte, data func([]byte, bool), answer func(byte, []byte)) (done bool, err error) {
	if size == 0 && op < opClose {
		data(nil, true)
	}
	at := 0
	for left := size; left > 0; {
		part := buf[:min(left, uint64(len(buf)))]
		if op < opClose {
			n, err := r.Read(part)
			if n == 0 && err != nil {
				return false, err
			}
			part = part[:n]
		} else if _, err := io.ReadFull(r, part); err != nil {
			return false, err
		}
		for i := range part {
			part[i] ^= mask[at&3]
			at++
		}
		left -= uint64(len(part))
		data(part, left == 0)
	}
	switch op {
	case opClose:
		answer(opClose, buf[:min(size, 125)])
		return true, nil
	case opPing:
		answer(opPong, buf[:min(size, 125)])
	}
	return false, nil
}

// frame is an unmasked frame, as a server sends it.
func frame(op byte, p []byte) []byte {
	out := []byte{0x80 | op}
	switch n := len(p); {
	case n < 126:
		out = append(out, byte(n))
	case n <= 0xffff:
		out = binary.BigEndian.AppendUint16(append(out, 126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 127), uint64(n))
	}
	return append(out, p...)
}

// whole puts the parts of messages together. It hands each message of text to say, unless it is too long.
type whole struct {
	held []byte
	over bool
	text bool
	say  func(message []byte)
}

// take takes the next part; op is 0 in the frames that continue a message.
func (w *whole) take(op byte, p []byte, end bool) {
	if op >= opClose {
		return
	}
	if op != 0 && len(w.held) == 0 && !w.over {
		w.text = op == opText
	}
	if w.over = w.over || len(w.held)+len(p) > maxMessage; !w.over {
		w.held = append(w.held, p...)
	}
	if !end {
		return
	}
	if w.text && !w.over {
		w.say(w.held)
	}
	w.held, w.over = w.held[:0], false
}
