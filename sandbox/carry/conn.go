package carry

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// stall bounds the wait for a peer that does not take what is written to it.
	stall = 30 * time.Second
	// farewell bounds the silence of a peer to which nothing more will be said.
	farewell = 2 * time.Minute
)

// Conn is a connection whose both ends are there.
type Conn struct{ k *carried }

// Close ends a connection that will not be carried.
func (c *Conn) Close() {
	c.k.close(nil)
	c.k.sendClose("")
	c.k.c.remove(c.k.id)
}

// Carry passes on between the connection and a local one until both directions
// have ended, closes that, and returns how many bytes went to the other side and
// how many came. With packets each Read and Write is one datagram. Spend is asked
// before each piece of either direction; an error of its ends the connection.
func (c *Conn) Carry(local net.Conn, packets bool, spend func(n int) error) (sent, came int64, err error) {
	k := c.k
	defer func() { _ = local.Close() }()
	k.mu.Lock()
	k.local = local
	over := k.closed
	k.mu.Unlock()
	if over != nil {
		k.c.remove(k.id)
		return 0, 0, over
	}
	var both sync.WaitGroup
	both.Go(func() { sent = k.out(local, packets, spend) })
	both.Go(func() { came = k.in(local, spend) })
	both.Wait()
	k.mu.Lock()
	err = k.closed
	k.mu.Unlock()
	if err != nil {
		k.sendClose("")
	}
	k.c.remove(k.id)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return sent, came, err
}

// out sends what the local side says.
func (k *carried) out(local net.Conn, packets bool, spend func(int) error) (n int64) {
	size := 32 << 10
	if packets {
		size = maxChunk
	}
	b := make([]byte, size)
	for k.awaitRoom() {
		k.linger(local)
		got, err := local.Read(b)
		if got > 0 || err == nil && packets {
			if no := spend(got); no != nil {
				k.close(no)
				return n
			}
			k.mu.Lock()
			k.room -= cost(b[:got])
			k.mu.Unlock()
			if no := k.c.send(frame{id: k.id, kind: kindData, data: b[:got]}.encode()); no != nil {
				k.close(no)
				return n
			}
			n += int64(got)
		}
		if errors.Is(err, io.EOF) {
			_ = k.c.send(frame{id: k.id, kind: kindEnd}.encode())
			return n
		}
		if err != nil {
			k.close(err)
			return n
		}
	}
	return n
}

// linger bounds the wait for what a local side still says to one that said all.
func (k *carried) linger(local net.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		_ = local.SetReadDeadline(time.Now().Add(farewell))
	}
}

// awaitRoom waits until something may be sent; false says that it is over.
func (k *carried) awaitRoom() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.room <= 0 && k.closed == nil {
		k.wake.Wait()
	}
	return k.closed == nil
}

// in hands on what the other side says.
func (k *carried) in(local net.Conn, spend func(int) error) (n int64) {
	passed := 0
	for {
		p, ok := k.next()
		if !ok {
			return n
		}
		if p == nil {
			half, can := local.(interface{ CloseWrite() error })
			if !can || half.CloseWrite() != nil {
				k.close(nil)
			}
			k.linger(local)
			return n
		}
		err := spend(len(p))
		if err == nil {
			_ = local.SetWriteDeadline(time.Now().Add(stall))
			_, err = local.Write(p)
		}
		if err != nil {
			k.close(err)
			return n
		}
		n += int64(len(p))
		if passed += cost(p); passed >= creditAt {
			_ = k.c.send(frame{id: k.id, kind: kindCredit, data: binary.LittleEndian.AppendUint32(nil, uint32(passed))}.encode())
			passed = 0
		}
	}
}

// next takes from the queue: nil data is the end, false says that it is over.
func (k *carried) next() ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.queue) == 0 && k.closed == nil {
		k.wake.Wait()
	}
	if k.closed != nil {
		return nil, false
	}
	p := k.queue[0]
	k.queue = k.queue[1:]
	if p != nil {
		k.queued -= cost(p)
	}
	return p, true
}
