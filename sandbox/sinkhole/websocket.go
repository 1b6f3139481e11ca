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

// The opcodes that are answered.
const (
	opClose = 8
	opPing  = 9
	opPong  = 10
)

var errFrame = errors.New("a malformed WebSocket frame")

// frames reads a client's frames until the connection ends or the client says
// so. data gets the unmasked payload of a frame in parts; its last part has end.
// No frame is held whole but a control frame, of at most 125 bytes.
func frames(r io.Reader, buf []byte, data func(p []byte, end bool), answer func(op byte, p []byte)) error {
	var head [14]byte
	for {
		if _, err := io.ReadFull(r, head[:2]); err != nil {
			return err
		}
		op, size := head[0]&15, uint64(head[1]&127)
		masked := head[1]&128 != 0
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
		done, err := payload(r, buf, size, mask, op, data, answer)
		if done || err != nil {
			return err
		}
	}
}

// payload reads one frame's bytes.
func payload(r io.Reader, buf []byte, size uint64, mask [4]byte, op byte, data func([]byte, bool), answer func(byte, []byte)) (done bool, err error) {
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
