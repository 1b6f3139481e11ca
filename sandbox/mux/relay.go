package mux

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of a Relay whose local side nobody trusts.
const (
	Stall    = 30 * time.Second
	Farewell = 2 * time.Minute
)

// Relay says how a connection and a local one are relayed.
type Relay struct {
	// Packets says that each Read and Write of the local one is a datagram.
	Packets bool
	// Stall bounds the wait for a local peer that does not take what is written to it; 0 is no bound.
	Stall time.Duration
	// Farewell bounds the silence of a local peer to which nothing more will be
	// said; 0 is no bound.
	Farewell time.Duration
	// Sent and Came are asked before each piece of n bytes is passed to the peer and
	// to the local one; an error resets the connection. nil allows all.
	Sent, Came func(n int) error
}

// Relay passes on between the connection and a local one until both directions have
// ended, and closes both. It returns how many bytes went to the peer and how many
// came, and the error that ended it before its time: a *ResetError is the peer's.
func (c *Conn) Relay(local net.Conn, o Relay) (sent, came int64, err error) {
	r := &relay{Relay: o, c: c, local: local}
	// What the peer sent before it closed is still delivered, within Stall; any other
	// end is one at once.
	cut := context.AfterFunc(c.ctx, func() {
		if errors.Is(context.Cause(c.ctx), io.EOF) {
			_ = local.SetWriteDeadline(time.Now().Add(Stall)) // a connection that is closed says so when written to
		} else {
			_ = local.Close()
		}
	})
	var out sync.WaitGroup
	out.Go(func() { sent = r.up() })
	came = r.down()
	closed := context.AfterFunc(c.ctx, func() { _ = local.Close() })
	out.Wait()
	cut()
	closed()
	_ = local.Close()
	err = context.Cause(c.ctx)
	_ = c.Close() // never fails
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return sent, came, err
}

type relay struct {
	Relay
	c     *Conn
	local net.Conn
	said  atomic.Bool // the peer's direction has ended
}

// up sends what the local side says.
func (r *relay) up() (total int64) {
	b := make([]byte, maxData)
	for {
		r.linger()
		n, err := r.local.Read(b)
		if n > 0 || err == nil && r.Packets {
			bad := allowed(r.Sent, n)
			if bad == nil {
				bad = r.c.sendPiece(b[:n])
			}
			if bad != nil {
				r.c.abort(bad)
				return total
			}
			total += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = r.c.CloseWrite() // never fails
			return total
		case err != nil:
			r.c.abort(err)
			return total
		}
	}
}

// down delivers what the peer says.
func (r *relay) down() (total int64) {
	for {
		p, err := r.c.next()
		if errors.Is(err, io.EOF) {
			r.said.Store(true)
			r.linger()
			half, can := r.local.(interface{ CloseWrite() error })
			if !can || half.CloseWrite() != nil {
				_ = r.c.Close() // never fails
			}
			return total
		}
		if err != nil {
			return total
		}
		if err = allowed(r.Came, len(p)); err == nil {
			err = r.write(p)
		}
		if err != nil {
			r.c.abort(err)
			return total
		}
		total += int64(len(p))
		r.c.delivered(p)
	}
}

func (r *relay) write(p []byte) error {
	if r.Stall > 0 {
		_ = r.local.SetWriteDeadline(time.Now().Add(r.Stall)) // as above
	}
	_, err := r.local.Write(p)
	return err
}

// linger bounds the wait for what the local side still says to a peer that said all.
func (r *relay) linger() {
	if r.Farewell > 0 && r.said.Load() {
		_ = r.local.SetReadDeadline(time.Now().Add(r.Farewell)) // as above
	}
}

func allowed(ask func(int) error, n int) error {
	if ask == nil {
		return nil
	}
	return ask(n)
}
