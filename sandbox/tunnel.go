package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
)

// tunnels are the host's ends of connections to the target's ports.
type tunnels struct {
	mu   sync.Mutex
	next uint32
	open map[uint32]*tunnel
	over bool
}

// tunnel is one connection, or a question for ports.
type tunnel struct {
	answer chan agent.TunnelFrame // takes the first frame
	mu     sync.Mutex
	wake   *sync.Cond
	queue  [][]byte
	held   int
	opened bool
	ended  bool
}

// errTunnel says that a tunnel ended before it was open.
var errTunnel = errors.New("the sandbox has ended")

// begin numbers a new tunnel.
func (r *Run) begin() (uint32, *tunnel, error) {
	t := &tunnel{answer: make(chan agent.TunnelFrame, 1)}
	t.wake = sync.NewCond(&t.mu)
	r.tunnels.mu.Lock()
	defer r.tunnels.mu.Unlock()
	if r.tunnels.over {
		return 0, nil, errTunnel
	}
	if len(r.tunnels.open) >= agent.MaxTunnels {
		return 0, nil, fmt.Errorf("more than %d connections to the target", agent.MaxTunnels)
	}
	if r.tunnels.open == nil {
		r.tunnels.open = map[uint32]*tunnel{}
	}
	r.tunnels.next++
	r.tunnels.open[r.tunnels.next] = t
	return r.tunnels.next, t, nil
}

func (r *Run) forget(id uint32) {
	r.tunnels.mu.Lock()
	defer r.tunnels.mu.Unlock()
	delete(r.tunnels.open, id)
}

// ask sends a tunnel's first frame and waits for the answer.
func (r *Run) ask(ctx context.Context, id uint32, t *tunnel, op agent.TunnelOp, data []byte) (agent.TunnelFrame, error) {
	if err := r.tunnelled(agent.TunnelFrame{ID: id, Op: op, Data: data}); err != nil {
		return agent.TunnelFrame{}, err
	}
	select {
	case f, ok := <-t.answer:
		if !ok {
			return f, errTunnel
		}
		if f.Op == agent.TunnelReset {
			return f, fmt.Errorf("connect to the target: %.200q", f.Data)
		}
		return f, nil
	case <-r.over:
		return agent.TunnelFrame{}, errTunnel
	case <-ctx.Done():
		return agent.TunnelFrame{}, context.Cause(ctx)
	}
}

// Ports lists the TCP ports on which the target listens, in rising order.
func (r *Run) Ports(ctx context.Context) ([]int, error) {
	id, t, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer r.forget(id)
	f, err := r.ask(ctx, id, t, agent.TunnelPorts, nil)
	return agent.DecodePorts(f.Data), err
}

// Dial connects to a port on which the target listens, on the sandbox's own
// loopback. The connection ends with the run, or when it is closed.
func (r *Run) Dial(ctx context.Context, port int) (net.Conn, error) {
	id, t, err := r.begin()
	if err != nil {
		return nil, err
	}
	if _, err := r.ask(ctx, id, t, agent.TunnelOpen, agent.EncodePorts([]int{port})); err != nil {
		r.forget(id)
		_ = r.tunnelled(agent.TunnelFrame{ID: id, Op: agent.TunnelReset}) // there may be nobody to tell
		return nil, err
	}
	mine, theirs := net.Pipe()
	go r.up(id, theirs)
	go r.down(id, t, theirs)
	return mine, nil
}

// up sends what is written to a connection until it is closed.
func (r *Run) up(id uint32, conn net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if n > 0 && r.tunnelled(agent.TunnelFrame{ID: id, Op: agent.TunnelData, Data: buf[:n]}) != nil {
			conn.Close()
			return
		}
		if err != nil {
			_ = r.tunnelled(agent.TunnelFrame{ID: id, Op: agent.TunnelReset}) // as above
			r.forget(id)
			return
		}
	}
}

// down hands what the target sent to the connection's reader.
func (r *Run) down(id uint32, t *tunnel, conn net.Conn) {
	defer r.forget(id)
	defer conn.Close()
	for {
		t.mu.Lock()
		for len(t.queue) == 0 && !t.ended {
			t.wake.Wait()
		}
		if len(t.queue) == 0 {
			t.mu.Unlock()
			return
		}
		p := t.queue[0]
		t.queue = t.queue[1:]
		t.held -= len(p)
		t.mu.Unlock()
		if _, err := conn.Write(p); err != nil {
			return // it was closed
		}
	}
}

// tunnelled queues a frame for the agent.
func (r *Run) tunnelled(f agent.TunnelFrame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.writing {
		return ErrOver
	}
	p := f.Encode()
	if r.held+len(p) > maxStdin {
		return ErrStdinFull
	}
	r.held += len(p)
	r.carried = append(r.carried, p)
	r.wake.Signal()
	return nil
}

// tunnel takes a frame of the agent's. What nobody reads in time ends its
// connection, never the run.
func (r *Run) tunnel(stamp time.Duration, p []byte) error {
	f, err := agent.DecodeTunnel(p)
	if err != nil {
		return err
	}
	r.tunnels.mu.Lock()
	t := r.tunnels.open[f.ID]
	r.heard = max(r.heard, stamp)
	r.tunnels.mu.Unlock()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.opened:
		t.opened = true
		f.Data = append([]byte(nil), f.Data...)
		t.answer <- f
		t.ended = f.Op != agent.TunnelOpen
	case f.Op == agent.TunnelData && !t.ended:
		t.queue = append(t.queue, append([]byte(nil), f.Data...))
		if t.held += len(f.Data); t.held > agent.TunnelAhead {
			t.queue, t.ended = nil, true
		}
	case f.Op == agent.TunnelEnd || f.Op == agent.TunnelReset:
		t.ended = true
	}
	t.wake.Signal()
	return nil
}

// Heard is the run's clock when the target last sent something over a connection.
func (r *Run) Heard() time.Duration {
	r.tunnels.mu.Lock()
	defer r.tunnels.mu.Unlock()
	return r.heard
}

// closeTunnels ends every connection when the run is over.
func (r *Run) closeTunnels() {
	r.tunnels.mu.Lock()
	defer r.tunnels.mu.Unlock()
	r.tunnels.over = true
	for _, t := range r.tunnels.open {
		t.mu.Lock()
		if t.ended = true; !t.opened {
			t.opened = true
			close(t.answer)
		}
		t.wake.Signal()
		t.mu.Unlock()
	}
}
