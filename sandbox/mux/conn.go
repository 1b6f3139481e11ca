package mux

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// ResetError is a connection's end before its time, or its refusal, for a reason
// that one side gives the other.
type ResetError struct{ Reason string }

// Error implements error. The reason is quoted: a peer may write what it likes.
func (e *ResetError) Error() string { return fmt.Sprintf("connection reset: %q", e.Reason) }

// errGone is what writing yields once the peer has closed a connection.
var errGone = errors.New("the other side has closed the connection")

// Conn is one connection; it implements net.Conn and CloseWrite. Each Write of at
// most 64 KiB comes as one piece at the peer's Relay, so that datagrams keep their
// bounds. Who opened or serves a Conn closes it.
type Conn struct {
	e      *Endpoint
	id     uint32
	addr   Addr
	mine   bool // opened by this side
	ctx    context.Context
	cancel context.CancelCauseFunc

	// All below is guarded by e.mu.
	wake          *sync.Cond
	accepted      bool
	queue         [][]byte // has come and was not read
	receiveWindow int      // what the peer may still send
	read          int      // what the peer does not know yet to be read
	sendWindow    int      // what may still be sent
	gotEnd        bool
	gotClose      bool
	sentClose     bool
	readErr       error // what reading yields after the queue
	writeErr      error // what writing yields
	readBy        deadline
	writeBy       deadline
}

// newConn registers a connection; the endpoint's lock is held.
func newConn(e *Endpoint, id uint32, a Addr) *Conn {
	c := &Conn{e: e, id: id, addr: a, receiveWindow: window, sendWindow: window, wake: sync.NewCond(&e.mu)}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	e.conns[id] = c
	return c
}

// Addr is where the connection leads.
func (c *Conn) Addr() Addr { return c.addr }

// Context is done when the connection is over: the peer has closed it, or this
// side has, or the endpoint was closed.
func (c *Conn) Context() context.Context { return c.ctx }

// Accept tells the peer that the connection it asked for is made.
func (c *Conn) Accept() error {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	c.accepted = true
	c.e.send(c.id, msgAccept, nil)
	return nil
}

// cost is what a piece of data costs of a window.
func cost(p []byte) int { return len(p) + overhead }

// take takes a message of the peer's; the endpoint's lock is held.
func (c *Conn) take(m message) error {
	defer c.wake.Broadcast()
	switch {
	case c.gotClose:
		return errors.New("a message after its close")
	case m.kind == msgClose:
		c.closedBy(string(m.data))
		return nil
	case m.kind == msgAccept:
		if !c.mine || c.accepted {
			return errors.New("it is accepted out of turn")
		}
		c.accepted = true
		return nil
	case !c.accepted:
		return errors.New("a message before it is accepted")
	case m.kind == msgWindow:
		n := binary.LittleEndian.Uint32(m.data)
		if n == 0 || n > uint32(window-c.sendWindow) {
			return fmt.Errorf("a window that grows by %d", n)
		}
		c.sendWindow += int(n)
		return nil
	case c.gotEnd:
		return errors.New("a message after its end")
	case m.kind == msgEnd:
		c.gotEnd = true
		c.readErr = cmp.Or(c.readErr, io.EOF)
		return nil
	}
	return c.put(m.data)
}

// put queues data for the reader, and keeps it.
func (c *Conn) put(p []byte) error {
	if c.receiveWindow -= cost(p); c.receiveWindow < 0 {
		return errors.New("more came than its window allows")
	}
	if !c.sentClose {
		c.queue = append(c.queue, p)
	}
	return nil
}

// closedBy takes the peer's close, which is a reset where it has a reason.
func (c *Conn) closedBy(reason string) {
	c.gotClose = true
	if reason != "" || !c.accepted {
		c.queue = nil
		c.end(&ResetError{reason})
	} else {
		c.readErr, c.writeErr = cmp.Or(c.readErr, io.EOF), cmp.Or(c.writeErr, errGone)
		c.cancel(io.EOF)
	}
	if c.sentClose {
		c.e.forget(c)
	}
}

// end ends both directions; what is queued can still be read. The lock is held.
func (c *Conn) end(why error) {
	c.readErr, c.writeErr = cmp.Or(c.readErr, why), cmp.Or(c.writeErr, why)
	c.cancel(why)
	c.wake.Broadcast()
}

// Close implements net.Conn. What was written is sent; what has come is dropped.
func (c *Conn) Close() error {
	c.close("", net.ErrClosed)
	return nil
}

// Reset closes the connection for a reason, and sends the peer its first 240
// bytes.
func (c *Conn) Reset(reason string) { c.abort(&ResetError{reason}) }

// abort resets the connection because of an error. The peer learns the reason of a
// *ResetError or an errno's text: others may name addresses of this side's.
func (c *Conn) abort(why error) {
	reason := "connection aborted"
	var reset *ResetError
	var no syscall.Errno
	switch {
	case errors.As(why, &reset) && reset.Reason != "":
		reason = reset.Reason
	case errors.As(why, &no):
		reason = no.Error()
	}
	c.close(reason[:min(len(reason), maxReason)], why)
}

func (c *Conn) close(reason string, why error) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if c.sentClose {
		return
	}
	c.sentClose, c.queue = true, nil
	c.readErr, c.writeErr = net.ErrClosed, net.ErrClosed
	c.e.send(c.id, msgClose, []byte(reason))
	c.end(why)
	if c.gotClose {
		c.e.forget(c)
	}
}

// CloseWrite ends this side's direction; the peer reads io.EOF.
func (c *Conn) CloseWrite() error {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if c.writeErr == nil {
		c.writeErr = net.ErrClosed
		c.e.send(c.id, msgEnd, nil)
	}
	return nil
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	for {
		if err := c.await(); err != nil || len(p) == 0 {
			return 0, err
		}
		n := copy(p, c.queue[0])
		if c.queue[0] = c.queue[0][n:]; len(c.queue[0]) == 0 {
			c.queue = c.queue[1:]
			c.wasRead(overhead)
		}
		c.wasRead(n)
		if n > 0 {
			return n, nil
		}
	}
}

// await waits until something can be read; the lock is held.
func (c *Conn) await() error {
	for {
		switch {
		case c.readBy.passed:
			return os.ErrDeadlineExceeded
		case len(c.queue) > 0:
			return nil
		case c.readErr != nil:
			return c.readErr
		}
		c.wake.Wait()
	}
}

// next takes one piece, which counts as read once it is delivered.
func (c *Conn) next() ([]byte, error) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if err := c.await(); err != nil {
		return nil, err
	}
	p := c.queue[0]
	c.queue = c.queue[1:]
	return p, nil
}

// delivered opens the peer's window by a piece that next returned.
func (c *Conn) delivered(p []byte) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	c.wasRead(cost(p))
}

// wasRead opens the peer's window as far as its data was read; the lock is held.
func (c *Conn) wasRead(n int) {
	if c.read += n; c.read < updateAt || c.gotEnd || c.gotClose || c.sentClose {
		return
	}
	c.receiveWindow += c.read
	c.e.send(c.id, msgWindow, binary.LittleEndian.AppendUint32(nil, uint32(c.read)))
	c.read = 0
}

// Write implements net.Conn. It waits for the window.
func (c *Conn) Write(p []byte) (int, error) {
	for n := 0; ; {
		piece := p[n:min(len(p), n+maxData)]
		if len(piece) == 0 {
			return n, nil
		}
		if err := c.sendPiece(piece); err != nil {
			return n, err
		}
		n += len(piece)
	}
}

// sendPiece sends at most maxData bytes as one message.
func (c *Conn) sendPiece(p []byte) error {
	frame := message{id: c.id, kind: msgData, data: p}.frame(c.e.clock())
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	for {
		switch {
		case c.writeErr != nil:
			return c.writeErr
		case c.writeBy.passed:
			return os.ErrDeadlineExceeded
		case c.sendWindow >= cost(p):
			c.sendWindow -= cost(p)
			c.e.push(frame)
			return nil
		}
		c.wake.Wait()
	}
}

// LocalAddr implements net.Conn; this side's end has no address.
func (c *Conn) LocalAddr() net.Addr { return Addr{Net: c.addr.Net} }

// RemoteAddr implements net.Conn; it is Addr.
func (c *Conn) RemoteAddr() net.Addr { return c.addr }

// deadline is a moment from which on reading or writing fails.
type deadline struct {
	timer  *time.Timer
	passed bool
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	c.setDeadline(&c.readBy, t)
	c.setDeadline(&c.writeBy, t)
	return nil
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.setDeadline(&c.readBy, t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.setDeadline(&c.writeBy, t)
	return nil
}

func (c *Conn) setDeadline(d *deadline, t time.Time) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	left := time.Until(t)
	if d.passed = !t.IsZero() && left <= 0; !t.IsZero() && left > 0 {
		var timer *time.Timer
		timer = time.AfterFunc(left, func() {
			c.e.mu.Lock()
			defer c.e.mu.Unlock()
			if d.timer == timer { // else another deadline was set
				d.passed = true
				c.wake.Broadcast()
			}
		})
		d.timer = timer
	}
	c.wake.Broadcast()
}
