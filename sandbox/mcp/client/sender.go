package client

import (
	"fmt"
	"sync"
)

// The bounds on what waits for a server that does not read.
const (
	maxQueued  = 512
	maxReplies = 256
	maxBacklog = 64 << 20
)

// sender passes lines to the transport in order. A server that does not read
// its input must hold up neither the feeding of its output nor a call's
// time-out, so lines queue and a goroutine lives only while some wait.
type sender struct {
	send   func(line []byte) error
	failed func(error)

	mu      sync.Mutex
	queue   [][]byte
	backlog int
	busy    bool
	err     error
}

// put queues a line. Replies to the server's own requests are refused earlier
// than requests, so that a flood of them leaves room.
func (s *sender) put(line []byte, reply bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	limit := maxQueued
	if reply {
		limit = maxReplies
	}
	if len(s.queue) >= limit || s.backlog > 0 && s.backlog+len(line) > maxBacklog {
		return errBusy
	}
	s.queue = append(s.queue, line)
	s.backlog += len(line)
	if !s.busy {
		s.busy = true
		go s.drain()
	}
	return nil
}

// drain sends until nothing waits.
func (s *sender) drain() {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 || s.err != nil {
			s.queue, s.backlog, s.busy = nil, 0, false
			s.mu.Unlock()
			return
		}
		line := s.queue[0]
		s.queue = s.queue[1:]
		s.backlog -= len(line)
		s.mu.Unlock()
		if err := s.send(line); err != nil {
			s.stop(err)
			s.failed(fmt.Errorf("sending to the server: %w", err))
		}
	}
}

// stop refuses every later line and forgets those that wait.
func (s *sender) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}
