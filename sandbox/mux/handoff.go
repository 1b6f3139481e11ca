package mux

import (
	"net"
	"sync"
)

// Handoff is a net.Listener of connections that are handed to it, for a server that
// takes its connections from a listener alone. It is safe for concurrent use.
type Handoff struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewHandoff returns an open Handoff.
func NewHandoff() *Handoff {
	return &Handoff{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Put hands a connection over and waits until it is accepted; it is false once the
// Handoff is closed.
func (h *Handoff) Put(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.done:
		return false
	}
}

// Accept implements net.Listener. After Close its error is net.ErrClosed.
func (h *Handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *Handoff) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

// Addr implements net.Listener. The address says nothing.
func (h *Handoff) Addr() net.Addr { return &net.TCPAddr{} }
