package carry

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
)

const (
	// window is how much of one direction may be on the way, a frame's more at most.
	window = 256 << 10
	// overhead is what a frame counts for beside its data, so that empty ones do not pile up.
	overhead = 64
	// creditAt is after how much a side is told that it was passed on.
	creditAt = window / 4
)

// MaxConns bounds the connections that are carried at once.
const MaxConns = 64

// Errors of a connection.
var (
	errBusy = fmt.Errorf("%d connections are carried already", MaxConns)
	errOver = errors.New("the run is over")
	errLied = errors.New("more came than its window allows")
)

// Carrier is one side's connections. Send writes one mux frame's payload; it may
// block, and is called from many goroutines.
type Carrier struct {
	send func(payload []byte) error

	mu    sync.Mutex
	conns map[int64]*carried
	over  bool
}

// New returns a side that sends by the function.
func New(send func(payload []byte) error) *Carrier {
	return &Carrier{send: send, conns: map[int64]*carried{}}
}

// carried is one connection as one side holds it.
type carried struct {
	c  *Carrier
	id int64

	mu     sync.Mutex
	wake   *sync.Cond
	queue  [][]byte // from the other side, a nil for its end
	queued int
	ended  bool  // the queue's last is the end
	room   int   // what may still be sent
	opened bool  // the host has been reached
	closed error // why it is over
	local  net.Conn
}

// Open registers a connection of the agent's choice of id and waits until the
// host says that it was reached, or why it was not. Ask is called once the id is
// known here.
func (c *Carrier) Open(ctx context.Context, id int64, ask func()) (*Conn, error) {
	k, err := c.add(id)
	if err != nil {
		return nil, err
	}
	ask()
	defer context.AfterFunc(ctx, func() { k.close(context.Cause(ctx)) })()
	k.mu.Lock()
	for !k.opened && k.closed == nil {
		k.wake.Wait()
	}
	err = k.closed
	k.mu.Unlock()
	if err != nil {
		k.sendClose("")
		c.remove(id)
		return nil, err
	}
	return &Conn{k}, nil
}

// Accept registers a connection that the host has made, and says so.
func (c *Carrier) Accept(id int64) (*Conn, error) {
	k, err := c.add(id)
	if err != nil {
		return nil, err
	}
	if err := c.send(frame{id: id, kind: kindOpened}.encode()); err != nil {
		c.remove(id)
		return nil, err
	}
	return &Conn{k}, nil
}

// Refuse says that a host was not reached.
func (c *Carrier) Refuse(id int64, why error) {
	_ = c.send(frame{id: id, kind: kindClose, data: reason(why)}.encode())
}

func reason(err error) []byte {
	if err == nil {
		return nil
	}
	s := err.Error()
	return []byte(s[:min(len(s), maxReason)])
}

// Take takes one payload from the other side. It never blocks. An error says
// that the other side does not keep to the rules.
func (c *Carrier) Take(p []byte) error {
	f, err := decode(p)
	if err != nil {
		return err
	}
	c.mu.Lock()
	k := c.conns[f.id]
	c.mu.Unlock()
	if k == nil {
		return nil // closed on this side meanwhile
	}
	k.take(f)
	return nil
}

// Close ends all connections, and those to come.
func (c *Carrier) Close() {
	c.mu.Lock()
	c.over = true
	all := make([]*carried, 0, len(c.conns))
	for _, k := range c.conns {
		all = append(all, k)
	}
	c.mu.Unlock()
	for _, k := range all {
		k.close(errOver)
	}
}

func (c *Carrier) add(id int64) (*carried, error) {
	k := &carried{c: c, id: id, room: window}
	k.wake = sync.NewCond(&k.mu)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
		return nil, errOver
	case len(c.conns) >= MaxConns:
		return nil, errBusy
	case c.conns[id] != nil:
		return nil, fmt.Errorf("connection %d is there already", id)
	}
	c.conns[id] = k
	return k, nil
}

func (c *Carrier) remove(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, id)
}

func (k *carried) take(f frame) {
	switch f.kind {
	case kindClose:
		err := net.ErrClosed
		if len(f.data) > 0 {
			err = errors.New(string(f.data))
		}
		k.close(err)
		return
	case kindData:
		if k.put(append([]byte{}, f.data...)) {
			return
		}
		k.close(errLied)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch f.kind {
	case kindOpened:
		k.opened = true
	case kindCredit:
		k.room = min(k.room+int(binary.LittleEndian.Uint32(f.data)&0x7fffffff), window)
	case kindEnd:
		if !k.ended {
			k.ended = true
			k.queue = append(k.queue, nil)
		}
	}
	k.wake.Broadcast()
}

// put queues data, as long as it is within the window.
func (k *carried) put(p []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed != nil {
		return true
	}
	if k.queued += cost(p); k.ended || k.queued > window+cost(nil)+maxChunk {
		return false
	}
	k.queue = append(k.queue, p)
	k.wake.Broadcast()
	return true
}

func cost(p []byte) int { return len(p) + overhead }

// close ends both directions on this side.
func (k *carried) close(why error) {
	k.mu.Lock()
	if k.closed == nil {
		k.closed = why
		if why == nil {
			k.closed = net.ErrClosed
		}
	}
	local := k.local
	k.queue, k.queued = nil, 0
	k.wake.Broadcast()
	k.mu.Unlock()
	if local != nil {
		_ = local.Close()
	}
}

func (k *carried) sendClose(why string) {
	_ = k.c.send(frame{id: k.id, kind: kindClose, data: []byte(why)}.encode())
}
