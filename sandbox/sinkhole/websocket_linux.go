package sinkhole

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// webSocket accepts an upgrade, reads what comes and answers messages.
func (s *server) webSocket(t *tap, r *http.Request, in io.Reader) {
	defer t.Conn.Close()
	f := t.w.f
	f.learn(func(e *Event) { e.App = "websocket" })
	protocol := ""
	if p, _, _ := strings.Cut(r.Header.Get("Sec-Websocket-Protocol"), ","); p != "" {
		protocol = "Sec-WebSocket-Protocol: " + strings.TrimSpace(p) + "\r\n"
	}
	_, err := fmt.Fprintf(t.Conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s\r\n",
		acceptKey(r.Header.Get("Sec-Websocket-Key")), protocol)
	if err != nil {
		f.fail(err.Error())
		return
	}
	view := f.stream(int(f.requests.Load()), ViewMessage)
	defer view.close()
	send := func(op byte, p []byte) { _, _ = t.Write(frame(op, p)) } // who does not read is seen by the next read
	m := s.cfg.messagesFor(r, canonical(hostOf(r)))
	if m.hello != "" {
		send(opText, []byte(m.hello))
	}
	message := whole{say: func(text []byte) {
		for _, a := range m.answer(text) {
			send(opText, []byte(a))
		}
	}}
	err = frames(idleReader{in, t, s.cfg.Idle}, make([]byte, 8<<10),
		func(op byte, p []byte, end bool) {
			view.write(p)
			message.take(op, p, end)
		}, send)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		f.fail(err.Error())
	}
	if !t.eof.Load() {
		t.drain()
	}
}

// idleReader gives each read a time of its own.
type idleReader struct {
	io.Reader
	t    *tap
	idle time.Duration
}

func (r idleReader) Read(p []byte) (int, error) {
	_ = r.t.SetReadDeadline(time.Now().Add(r.idle))
	return r.Reader.Read(p)
}
