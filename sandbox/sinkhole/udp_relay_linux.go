package sinkhole

import (
	"context"
	"net"
	"slices"
	"time"
)

// relayQueue bounds the datagrams that wait to be relayed.
const relayQueue = 64

// udpRelay takes an association's datagrams to an allowed host, and the answers back.
type udpRelay struct {
	queue chan []byte
	done  chan struct{}
}

// relayDatagram gives a datagram to the association's relay, a new one if there
// is none that runs.
func (s *server) relayDatagram(a *association, p []byte) {
	if a.relay != nil {
		select {
		case <-a.relay.done:
			a.relay = nil
		default:
		}
	}
	if a.relay == nil {
		u := &udpRelay{queue: make(chan []byte, relayQueue), done: make(chan struct{})}
		a.relay = u
		s.wg.Go(func() {
			defer close(u.done)
			s.relayDatagrams(a.f, u)
		})
	}
	select {
	case a.relay.queue <- slices.Clone(p):
	default:
		s.loss("a datagram to an allowed host was not carried: too many wait", a.f.id)
	}
}

// relayDatagrams runs until the queue is closed, the run ends, or nothing moves.
func (s *server) relayDatagrams(f *flow, u *udpRelay) {
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
		s.relayBack(f, peer)
	}()
	idle := time.NewTimer(s.cfg.Idle)
	defer idle.Stop()
	for {
		select {
		case p, ok := <-u.queue:
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

// relayBack answers with what the peer says.
func (s *server) relayBack(f *flow, peer net.Conn) {
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
