package mux

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// window is the initial window of each direction of a connection, and the largest.
	window = 512 << 10
	// overhead is what a message costs of a window beside its data, so that empty ones do not pile up.
	overhead = 64
	// updateAt is how much of a window has to be read before the sender gets it back.
	updateAt = window / 4
	// maxQueued bounds what waits to be sent: what the windows of all connections
	// allow, and half as much again for all else. A peer that reads never lets it come so far.
	maxQueued = 3 * MaxConns * window
)

// MaxConns bounds the connections that each side may have open at once.
const MaxConns = 64

// Endpoint is one side of the connections between host and agent. Either side may
// open one, and each direction of each has a window, which bounds what is on its
// way or waits to be read (the stream-level flow control of RFC 9113 section 5.2).
// No method but Open, Send and Close blocks. All may be called from any goroutine.
type Endpoint struct {
	clock func() time.Duration
	serve func(*Conn)

	mu      sync.Mutex
	wake    *sync.Cond // for Send
	out     [][]byte   // frames to be sent
	queued  int        // what they cost
	conns   map[uint32]*Conn
	next    uint32 // the next connection of this side: odd on the host, even on the agent
	last    uint32 // the last connection that the peer opened
	mine    int    // open connections of this side
	theirs  int    // open connections of the peer's
	heard   time.Duration
	over    error
	serving sync.WaitGroup
}

// NewHost returns the host's side. serve is called, in a goroutine of its own, with
// each connection that the agent opens, which is closed when it returns: it accepts
// or resets it. With a nil serve the agent may open none.
func NewHost(serve func(*Conn)) *Endpoint {
	return newEndpoint(1, func() time.Duration { return 0 }, serve)
}

// NewAgent returns the agent's side, which stamps what it sends by its clock. See
// NewHost for serve.
func NewAgent(clock func() time.Duration, serve func(*Conn)) *Endpoint {
	return newEndpoint(2, clock, serve)
}

func newEndpoint(first uint32, clock func() time.Duration, serve func(*Conn)) *Endpoint {
	e := &Endpoint{clock: clock, serve: serve, next: first, conns: map[uint32]*Conn{}}
	e.wake = sync.NewCond(&e.mu)
	return e
}

// Open asks the peer for a connection and waits until it is made, refused (a
// *ResetError), or the context ends.
func (e *Endpoint) Open(ctx context.Context, a Addr) (*Conn, error) {
	c, err := e.request(a)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { c.abort(context.Cause(ctx)) })()
	e.mu.Lock()
	for !c.accepted && c.readErr == nil {
		c.wake.Wait()
	}
	made := c.accepted && !c.sentClose
	e.mu.Unlock()
	if made {
		return c, nil
	}
	_ = c.Close() // never fails
	return nil, context.Cause(c.ctx)
}

// request sends the request for a connection.
func (e *Endpoint) request(a Addr) (*Conn, error) {
	data, err := a.encode()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.over != nil:
		return nil, e.over
	case e.mine >= MaxConns:
		return nil, fmt.Errorf("mux: %d connections are open already", MaxConns)
	}
	c := newConn(e, e.next, a)
	c.mine = true
	e.next += 2
	e.mine++
	e.send(c.id, msgOpen, data)
	return c, nil
}

// Take takes one frame of the peer's. An error says that the peer does not keep to
// the protocol: nothing that follows from it can be relied upon.
func (e *Endpoint) Take(f Frame) error {
	m, err := decodeMessage(f.Payload)
	if err != nil {
		return err
	}
	if m.kind == msgData {
		m.data = append([]byte{}, m.data...)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over != nil {
		return nil
	}
	if e.queued > maxQueued {
		return fmt.Errorf("mux: %d bytes of what connections sent are not read", e.queued)
	}
	if m.kind == msgOpen {
		return e.opened(m)
	}
	c := e.conns[m.id]
	if c == nil {
		return fmt.Errorf("mux: a message of connection %d, which is not open", m.id)
	}
	if c.mine {
		e.heard = max(e.heard, f.Stamp)
	}
	if err := c.take(m); err != nil {
		return fmt.Errorf("mux: connection %d: %w", m.id, err)
	}
	return nil
}

// opened takes the peer's wish for a connection.
func (e *Endpoint) opened(m message) error {
	a, err := decodeAddr(m.data)
	switch {
	case err != nil:
		return err
	case e.serve == nil:
		return errors.New("mux: a connection was opened where none may be")
	case m.id%2 == e.next%2 || m.id <= e.last:
		return fmt.Errorf("mux: connection %d was opened out of turn", m.id)
	case e.theirs >= MaxConns:
		return fmt.Errorf("mux: more than %d connections were opened", MaxConns)
	}
	c := newConn(e, m.id, a)
	e.last = m.id
	e.theirs++
	e.serving.Go(func() {
		defer func() { _ = c.Close() }() // it may have been reset
		e.serve(c)
	})
	return nil
}

// send queues a message; the lock is held. It never blocks: windows bound the data
// that is queued, and Take the answers to a peer that does not read.
func (e *Endpoint) send(id uint32, kind byte, data []byte) {
	if e.over != nil {
		return
	}
	e.push(message{id: id, kind: kind, data: data}.frame(e.clock()))
}

func (e *Endpoint) push(frame []byte) {
	e.queued += cost(frame)
	e.out = append(e.out, frame)
	e.wake.Signal()
}

// Send writes what is to be sent until the endpoint is closed and all is written,
// or the writer fails.
func (e *Endpoint) Send(w *Writer) error {
	for {
		f, ok := e.nextFrame()
		if !ok {
			return nil
		}
		w.mu.Lock()
		err := w.write(Conns, f)
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func (e *Endpoint) nextFrame() ([]byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.out) == 0 && e.over == nil {
		e.wake.Wait()
	}
	if len(e.out) == 0 {
		return nil, false
	}
	f := e.out[0]
	e.out = e.out[1:]
	e.queued -= cost(f)
	return f, true
}

// Heard is the stamp of the last message that came on a connection of this side's.
func (e *Endpoint) Heard() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard
}

// Close ends every connection, and those to come, with an error. What had come can
// still be read. It returns when whatever serves the peer's connections has.
func (e *Endpoint) Close(why error) {
	e.mu.Lock()
	if e.over == nil {
		e.over = why
		for _, c := range e.conns {
			c.end(why)
		}
		e.wake.Broadcast()
	}
	e.mu.Unlock()
	e.serving.Wait()
}

// forget takes a connection from the list that both sides have closed.
func (e *Endpoint) forget(c *Conn) {
	delete(e.conns, c.id)
	if c.mine {
		e.mine--
	} else {
		e.theirs--
	}
}
