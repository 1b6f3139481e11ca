package sinkhole

import (
	"context"
	"net"
	"slices"
	"time"
)

// ferryQueue bounds the datagrams that wait to be carried.
const ferryQueue = 64

// ferry carries an association's datagrams to an allowed host, and answers back.
type ferry struct {
	queue chan []byte
	done  chan struct{}
}

// carryDatagram puts a datagram on the association's ferry, a new one if there
// is none that goes.
func (s *server) carryDatagram(a *association, p []byte) {
	if a.ferry != nil {
		select {
		case <-a.ferry.done:
			a.ferry = nil
		default:
		}
	}
	if a.ferry == nil {
		fy := &ferry{queue: make(chan []byte, ferryQueue), done: make(chan struct{})}
		a.ferry = fy
		s.wg.Go(func() {
			defer close(fy.done)
			s.sail(a.f, fy)
		})
	}
	select {
	case a.ferry.queue <- slices.Clone(p):
	default:
		s.loss("a datagram to an allowed host was not carried: too many wait", a.f.id)
	}
}

// sail carries until the queue is closed, the run ends, or nothing moves.
func (s *server) sail(f *flow, fy *ferry) {
	peer, err := s.dial(f)
	if err != nil {
		return
	}
	back := make(chan struct{})
	defer func() { <-back }()
	defer func() { _ = peer.Close() }()
	defer context.AfterFunc(s.ctx, func() { _ = peer.Close() })()
	go func() {
		defer close(back)
		s.carryBack(f, peer)
	}()
	idle := time.NewTimer(s.cfg.Idle)
	defer idle.Stop()
	for {
		select {
		case p, ok := <-fy.queue:
			if !ok {
				return
			}
			if _, err := peer.Write(p); err != nil {
				f.fail(err.Error())
				return
			}
			idle.Reset(s.cfg.Idle)
		case <-back:
			return
		case <-idle.C:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// carryBack answers with what the peer says.
func (s *server) carryBack(f *flow, peer net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := peer.Read(b)
		if err != nil {
			return
		}
		if err := s.answerFrom(f.known.Dest, f.known.Source, b[:n]); err != nil {
			f.fail("answer: " + err.Error())
			s.loss("a datagram could not be answered", f.id)
			continue
		}
		f.down.Add(int64(n))
	}
}
