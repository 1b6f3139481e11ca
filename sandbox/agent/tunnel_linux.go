package agent

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// dialTimeout bounds a connection over the loopback.
const dialTimeout = 5 * time.Second

// tunnels are the host's connections to the target.
type tunnels struct {
	a *agent
	// before are the ports that were listened on before the target ran.
	before []int

	mu   sync.Mutex
	open map[uint32]*tunnel
}

// tunnel is one connection. What the host sends waits in queue, so that a
// target that does not read never keeps the agent from hearing the host.
type tunnel struct {
	mu    sync.Mutex
	wake  *sync.Cond
	queue [][]byte
	held  int
	ended bool // no more comes from the host
	gone  bool
	conn  net.Conn
}

func newTunnels(a *agent) *tunnels {
	return &tunnels{a: a, before: listening(-1), open: map[uint32]*tunnel{}}
}

func (t *tunnels) send(id uint32, op TunnelOp, data []byte) error {
	return t.a.out.Write(mux.Frame{Stream: mux.Tunnel, Stamp: clock(), Payload: TunnelFrame{id, op, data}.Encode()})
}

// take acts on a frame of the host's; it never waits.
func (t *tunnels) take(p []byte) {
	f, err := DecodeTunnel(p)
	if err != nil {
		return
	}
	t.mu.Lock()
	c := t.open[f.ID]
	full := len(t.open) >= MaxTunnels
	if f.Op == TunnelOpen && c == nil && !full {
		c = &tunnel{}
		c.wake = sync.NewCond(&c.mu)
		t.open[f.ID] = c
		t.mu.Unlock()
		go t.connect(f.ID, c, DecodePorts(f.Data))
		return
	}
	t.mu.Unlock()
	switch {
	case f.Op == TunnelPorts:
		_ = t.send(f.ID, TunnelPorts, EncodePorts(t.ports())) // a host that is gone asks no more
	case f.Op == TunnelOpen:
		_ = t.send(f.ID, TunnelReset, []byte("too many connections")) // as above
	case c == nil:
	case f.Op == TunnelData:
		c.put(f.Data)
	case f.Op == TunnelEnd:
		c.put(nil)
	case f.Op == TunnelReset:
		c.reset()
	}
}

// ports are those on which the target listens.
func (t *tunnels) ports() []int {
	uid := t.a.cfg.User.UID
	if t.a.cfg.SingleUID {
		uid = -1
	}
	var out []int
	for _, p := range listening(uid) {
		if !slices.Contains(t.before, p) {
			out = append(out, p)
		}
	}
	return out
}

// listening lists the TCP ports that a user's sockets listen on, everybody's if
// uid is negative, in rising order.
func listening(uid int) []int {
	var ports []int
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			// sl local_address rem_address st queues timer retrnsmt uid
			if len(fields) < 8 || fields[3] != "0A" || uid >= 0 && fields[7] != strconv.Itoa(uid) {
				continue
			}
			_, port, _ := strings.Cut(fields[1], ":")
			if n, err := strconv.ParseUint(port, 16, 16); err == nil && !slices.Contains(ports, int(n)) {
				ports = append(ports, int(n))
			}
		}
		f.Close()
	}
	slices.Sort(ports)
	return ports
}

// connect dials and carries until both directions have ended.
func (t *tunnels) connect(id uint32, c *tunnel, ports []int) {
	defer func() {
		t.mu.Lock()
		delete(t.open, id)
		t.mu.Unlock()
	}()
	conn, err := dialLoopback(ports)
	if err != nil {
		_ = t.send(id, TunnelReset, []byte(err.Error())) // a host that is gone asks no more
		return
	}
	defer conn.Close()
	c.mu.Lock()
	c.conn = conn
	gone := c.gone
	c.mu.Unlock()
	if gone || t.send(id, TunnelOpen, nil) != nil {
		return
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
	}()
	op, why := t.read(id, conn)
	_ = t.send(id, op, []byte(why)) // as above
	if op == TunnelReset {
		c.reset()
	}
	<-written
}

// dialLoopback connects to a port, by IPv4 if the target listens there.
func dialLoopback(ports []int) (net.Conn, error) {
	if len(ports) != 1 {
		return nil, errors.New("no port was named")
	}
	port := strconv.Itoa(ports[0])
	conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", port), dialTimeout)
	if err == nil {
		return conn, nil
	}
	six, sixErr := net.DialTimeout("tcp", net.JoinHostPort("::1", port), dialTimeout)
	if sixErr == nil {
		return six, nil
	}
	return nil, err
}

// read sends what the target writes. It counts as the target's output.
func (t *tunnels) read(id uint32, conn net.Conn) (op TunnelOp, why string) {
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		if n > 0 {
			total := t.a.output.Add(int64(n))
			if bound := t.a.cfg.Limits.Output; bound > 0 && total > bound {
				t.a.limit(fmt.Sprintf("output: more than %d bytes", bound))
				return TunnelReset, "the limit on output"
			}
			if t.send(id, TunnelData, buf[:n]) != nil {
				return TunnelReset, ""
			}
		}
		if err != nil {
			return TunnelEnd, ""
		}
	}
}

// put queues a copy of what the host sent; nil is its end.
func (c *tunnel) put(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended || c.gone:
	case p == nil:
		c.ended = true
	case c.held+len(p) > TunnelAhead:
		c.gone = true
		if c.conn != nil {
			c.conn.Close()
		}
	default:
		c.queue = append(c.queue, append([]byte{}, p...))
		c.held += len(p)
	}
	c.wake.Signal()
}

func (c *tunnel) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	if c.conn != nil {
		c.conn.Close()
	}
	c.wake.Signal()
}

// write passes on what is queued until its end.
func (c *tunnel) write() {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.ended && !c.gone {
			c.wake.Wait()
		}
		if c.gone || len(c.queue) == 0 {
			gone := c.gone
			c.mu.Unlock()
			if half, ok := c.conn.(*net.TCPConn); ok && !gone {
				_ = half.CloseWrite() // the target may be gone
			}
			return
		}
		p := c.queue[0]
		c.queue = c.queue[1:]
		c.held -= len(p)
		c.mu.Unlock()
		if _, err := c.conn.Write(p); err != nil {
			c.reset()
		}
	}
}

// closeAll ends every tunnel.
func (t *tunnels) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.open {
		c.reset()
	}
}
