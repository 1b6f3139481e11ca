package sinkhole

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// settleFor bounds the wait for quiet: a client that never rests, or one whose
// bytes nobody will read, must not hold up the one who asks.
const settleFor = 250 * time.Millisecond

// answerSettles runs each function of Config.Settle once everything that was
// sent before it came has been reported. On the loopback interface what was sent
// is in the receiver's queue before the send returns.
func (s *server) answerSettles(got *sockets) {
	for {
		select {
		case done := <-s.cfg.Settle:
			s.settle(got)
			done()
		case <-s.ctx.Done():
			return
		}
	}
}

// settle returns when all queues are empty and nothing was reported between two looks.
func (s *server) settle(got *sockets) {
	deadline := now() + settleFor
	before := s.sent.Load()
	for quiet := 0; quiet < 2 && now() < deadline; {
		s.pause(300 * time.Microsecond)
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
