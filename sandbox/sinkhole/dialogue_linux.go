package sinkhole

import (
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// maxLine bounds a line of a dialogue; what is longer is kept all the same
// and answered as if it had ended.
const maxLine = 4096

// serveLines speaks a protocol of lines; where with is nil, it only listens.
func (s *server) serveLines(t *tap, with *lineProtocol) {
	defer t.Conn.Close()
	reply := func(text string) {
		if text != "" {
			_, _ = io.WriteString(t.Conn, text)
		}
	}
	state := &dialogue{dest: t.w.f.known.Dest, planted: s.cfg.Planted}
	if with != nil {
		t.w.f.learn(func(e *Event) { e.App = with.app })
		reply(with.banner)
	}
	b := make([]byte, 2048) // an idle dialogue holds it
	var line []byte
	for {
		_ = t.SetReadDeadline(time.Now().Add(s.cfg.Idle))
		n, err := t.Read(b)
		if with != nil && with.answer != nil {
			line = state.lines(line, b[:n], with, reply)
		}
		if with != nil && with.packets != nil {
			var answer []byte
			answer, line = with.packets(state, append(line, b[:n]...))
			reply(string(answer))
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				t.w.f.fail(err.Error())
			}
			return
		}
		if state.quit {
			t.drain()
			return
		}
	}
}

// lines answers the whole lines of p and returns the part of one that is left.
func (t *dialogue) lines(line, p []byte, with *lineProtocol, reply func(string)) []byte {
	for _, c := range p {
		if c != '\n' && len(line) < maxLine {
			line = append(line, c)
			continue
		}
		reply(with.answer(t, strings.TrimRight(string(line), "\r")))
		line = line[:0]
	}
	return line
}
