package sinkhole

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// quiescePolls bounds the wait for quiet, a quarter of a second or so: a client
// that never rests, or one whose bytes nobody will read, must not hold up the one
// who asks. Polls are counted, not time: on a busy machine this process may not
// run for as long.
const (
	quiescePolls = 800
	quiescePause = 300 * time.Microsecond
)

// serveQuiesce runs each function of Config.Quiesce once everything that was
// sent before it came has been reported. On the loopback interface what was sent
// is in the receiver's queue before the send returns.
func (s *server) serveQuiesce(got *sockets) {
	for {
		select {
		case done := <-s.cfg.Quiesce:
			s.quiesce(got)
			done()
		case <-s.ctx.Done():
			return
		}
	}
}

// quiesce returns when all queues are empty and nothing was reported between two polls.
func (s *server) quiesce(got *sockets) {
	before := s.sent.Load()
	for polls, quiet := 0, 0; quiet < 2 && polls < quiescePolls; polls++ {
		trace.Pause(quiescePause)
		if s.ctx.Err() != nil {
			return
		}
		if sent := s.sent.Load(); sent != before || s.waiting(got) {
			before, quiet = sent, 0
			continue
		}
		quiet++
	}
}

// waiting reports whether any queue holds something.
func (s *server) waiting(got *sockets) bool {
	for _, l := range got.listeners {
		if readable(l) {
			return true
		}
	}
	for _, d := range got.datagrams {
		if readable(d) {
			return true
		}
	}
	for _, p := range got.packets {
		if readable(p) {
			return true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.conns {
		if readable(w.TCPConn) {
			return true
		}
	}
	return false
}

func readable(c syscall.Conn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	ready := false
	_ = raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		ready = err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
	})
	return ready
}
