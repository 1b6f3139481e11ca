package mux

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// pair is a TCP connection over the loopback address.
func pair(t testing.TB) (one, two *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

// relayed are a client and a server with both endpoints between them, either of
// which may open the connection.
type relayed struct {
	host, agent *Endpoint
	outside     chan net.Conn // what the next connection is relayed to
	ended       chan [2]int64
}

func newRelayed(t testing.TB) *relayed {
	r := &relayed{outside: make(chan net.Conn, MaxConns), ended: make(chan [2]int64, 2*MaxConns)}
	serve := func(c *Conn) {
		if c.Accept() == nil {
			r.relay(t, c, <-r.outside)
		}
	}
	r.host, r.agent = NewHost(serve), NewAgent(still, serve)
	sides(t, r.host, r.agent)
	return r
}

func (r *relayed) relay(t testing.TB, c *Conn, local net.Conn) {
	sent, came, err := c.Relay(local, Relay{})
	if err != nil && t.Context().Err() == nil {
		t.Error(err)
	}
	r.ended <- [2]int64{sent, came}
}

func (r *relayed) connect(t testing.TB, opener *Endpoint) (client, server *net.TCPConn) {
	t.Helper()
	client, inside := pair(t)
	outside, server := pair(t)
	r.outside <- outside
	c := open(t, opener)
	go r.relay(t, c, inside)
	return client, server
}

// A request is sent and its direction closed; the answer comes whole after that.
func TestHalfCloseAndEveryByte(t *testing.T) {
	r := newRelayed(t)
	var wg sync.WaitGroup
	for n, opener := range []*Endpoint{r.host, r.agent, r.host, r.agent, r.host, r.agent} {
		client, server := r.connect(t, opener)
		size := (n + 1) * 300_000 // beyond a window
		wg.Go(func() {
			h := sha256.New()
			n, err := io.Copy(h, server)
			if err != nil || int(n) != size {
				t.Errorf("%d bytes came, %v", n, err)
			}
			_, _ = server.Write(make([]byte, size))
			_, _ = fmt.Fprintf(server, "%x", h.Sum(nil))
			_ = server.CloseWrite()
		})
		wg.Go(func() {
			body := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			if _, err := client.Write(body); err != nil {
				t.Error(err)
			}
			_ = client.CloseWrite()
			got, err := io.ReadAll(client)
			if want := fmt.Sprintf("%x", sha256.Sum256(body)); err != nil || len(got) != size+len(want) || string(got[size:]) != want {
				t.Errorf("%d bytes back, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	var total int64
	for range 2 * 6 {
		n := <-r.ended
		total += n[0] + n[1]
	}
	if want := int64(2 * (2*300_000*21 + 6*64)); total != want {
		t.Errorf("counted %d, want %d", total, want)
	}
	// What one side opens is made after the other has heard of every close before.
	r.connect(t, r.host)
	r.connect(t, r.agent)
	for _, e := range []*Endpoint{r.host, r.agent} {
		e.mu.Lock()
		if len(e.conns) != 2 || e.mine != 1 || e.theirs != 1 {
			t.Errorf("%d connections are open, %d and %d", len(e.conns), e.mine, e.theirs)
		}
		e.mu.Unlock()
	}
}

// Who closes a connection ends it for the peer's local side too, which gets all
// that was written before.
func TestCloseReachesTheLocalSide(t *testing.T) {
	r := newRelayed(t)
	for _, opener := range []*Endpoint{r.host, r.agent} {
		local, server := pair(t)
		r.outside <- local
		c := open(t, opener)
		if _, err := c.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		if got, err := io.ReadAll(server); err != nil || len(got) != 1<<20 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if n := <-r.ended; n != [2]int64{0, 1 << 20} {
			t.Errorf("counted %v", n)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read from a closed one: %v", err)
		}
	}
}

// Datagrams keep their bounds, the empty one too.
func TestPacketsKeepTheirBounds(t *testing.T) {
	got := make(chan string, 8)
	host := NewHost(func(c *Conn) {
		if c.Accept() == nil {
			_, _, _ = c.Relay(&packetLog{got: got, over: c.Context().Done()}, Relay{Packets: true})
		}
	})
	agent := NewAgent(still, nil)
	sides(t, host, agent)
	c := open(t, agent)
	for _, p := range []string{"one", "", "three", strings.Repeat("x", maxData)} {
		if err := c.sendPiece([]byte(p)); err != nil {
			t.Fatal(err)
		}
		if back := <-got; back != p {
			t.Errorf("%d bytes became %d", len(p), len(back))
		}
	}
}

// packetLog is a local side that tells what is written to it.
type packetLog struct {
	net.Conn
	got  chan string
	over <-chan struct{}
}

func (p *packetLog) Read([]byte) (int, error) { <-p.over; return 0, net.ErrClosed }
func (p *packetLog) Write(b []byte) (int, error) {
	p.got <- string(b)
	return len(b), nil
}
func (p *packetLog) Close() error                     { return nil }
func (p *packetLog) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkRelay measures a client and a server with both sides between them.
func BenchmarkRelay(b *testing.B) {
	r := newRelayed(b)
	client, server := r.connect(b, r.agent)
	b.Run("ping", func(b *testing.B) {
		p := make([]byte, 1)
		for b.Loop() {
			for _, one := range [][2]net.Conn{{client, server}, {server, client}} {
				if _, err := one[0].Write(p); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(one[1], p); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	const bulk = 4 << 20
	b.Run("bulk", func(b *testing.B) {
		b.SetBytes(bulk)
		for b.Loop() {
			go func() { _, _ = client.Write(make([]byte, bulk)) }()
			if _, err := io.CopyN(io.Discard, server, bulk); err != nil {
				b.Fatal(err)
			}
		}
	})
}
