package carry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// sides are two carriers that are connected by channels, as agent and host are by a pipe.
func sides(t *testing.T) (agent, host *Carrier) {
	t.Helper()
	up, down := make(chan []byte, 16), make(chan []byte, 16)
	done := make(chan struct{})
	send := func(c chan []byte) func([]byte) error {
		return func(p []byte) error {
			select {
			case c <- p:
				return nil
			case <-done:
				return errOver
			}
		}
	}
	agent, host = New(send(up)), New(send(down))
	var wg sync.WaitGroup
	pass := func(c chan []byte, to *Carrier) {
		for {
			select {
			case p := <-c:
				if err := to.Take(p); err != nil {
					t.Error(err)
				}
			case <-done:
				return
			}
		}
	}
	wg.Go(func() { pass(up, host) })
	wg.Go(func() { pass(down, agent) })
	t.Cleanup(func() {
		agent.Close()
		host.Close()
		close(done)
		wg.Wait()
	})
	return agent, host
}

func free(int) error { return nil }

// pair is a TCP connection over the loopback address.
func pair(t *testing.T) (one, two *net.TCPConn) {
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

// carrying is a client and a server with both carriers between them.
func carrying(t *testing.T, agent, host *Carrier, id int64) (client, server *net.TCPConn, ended chan [2]int64) {
	t.Helper()
	client, inside := pair(t)
	outside, server := pair(t)
	ended = make(chan [2]int64, 2)
	carry := func(c *Conn, local net.Conn) {
		sent, came, err := c.Carry(local, false, free)
		if err != nil {
			t.Error(err)
		}
		ended <- [2]int64{sent, came}
	}
	conn, err := agent.Open(context.Background(), id, func() {
		go func() {
			c, err := host.Accept(id)
			if err != nil {
				t.Error(err)
				return
			}
			carry(c, outside)
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	go carry(conn, inside)
	return client, server, ended
}

// A request is sent and its direction closed; the answer comes whole after that.
func TestHalfCloseAndEveryByte(t *testing.T) {
	agent, host := sides(t)
	var wg sync.WaitGroup
	for id := int64(1); id <= 8; id++ {
		client, server, ended := carrying(t, agent, host, id)
		size := int(id) * 300_000 // beyond a window
		wg.Go(func() {
			h := sha256.New()
			n, err := io.Copy(h, server)
			if err != nil || int(n) != size {
				t.Errorf("%d bytes came, %v", n, err)
			}
			_, _ = server.Write(bytes.Repeat([]byte{byte(id)}, size))
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
			for range 2 {
				if n := <-ended; n[0]+n[1] != int64(2*size+64) {
					t.Errorf("counted %v of %d", n, size)
				}
			}
		})
	}
	wg.Wait()
	if len(agent.conns)+len(host.conns) != 0 {
		t.Errorf("%d and %d connections are left", len(agent.conns), len(host.conns))
	}
}

// A peer that does not read stops who writes to it, at a window and what the kernel holds.
func TestWindowHoldsAWriter(t *testing.T) {
	_, host := sides(t)
	local, far := pair(t)
	c, err := host.Accept(1)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _, _ = c.Carry(local, false, free) }()
	go func() { _, _ = far.Write(make([]byte, 16<<20)) }()
	k := c.k
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		k.mu.Lock()
		room := k.room
		k.mu.Unlock()
		if room <= 0 {
			if room < -maxChunk-overhead {
				t.Errorf("room is %d", room)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the window never filled")
		}
	}
}

// What does not keep to the window ends its own connection and holds no memory.
func TestALiarIsCutOff(t *testing.T) {
	host := New(func([]byte) error { return nil })
	c, err := host.Accept(7)
	if err != nil {
		t.Fatal(err)
	}
	data := frame{id: 7, kind: kindData, data: make([]byte, maxChunk)}.encode()
	for range 100 {
		if err := host.Take(data); err != nil {
			t.Fatal(err)
		}
	}
	if !errors.Is(c.k.closed, errLied) || c.k.queue != nil {
		t.Errorf("closed by %v with %d waiting", c.k.closed, len(c.k.queue))
	}
	empty, _ := host.Accept(8)
	for range 1 << 16 {
		_ = host.Take(frame{id: 8, kind: kindData}.encode())
	}
	if !errors.Is(empty.k.closed, errLied) {
		t.Errorf("many empty ones: %v", empty.k.closed)
	}
	for id := int64(10); ; id++ {
		if _, err := host.Accept(id); err != nil {
			if !errors.Is(err, errBusy) || id < MaxConns {
				t.Errorf("connection %d: %v", id, err)
			}
			return
		}
	}
}

func TestRefusalReachesWhoAsked(t *testing.T) {
	agent, host := sides(t)
	_, err := agent.Open(context.Background(), 3, func() { host.Refuse(3, errInside) })
	if err == nil || err.Error() != errInside.Error() {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := agent.Open(ctx, 4, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestCheck(t *testing.T) {
	allow := []string{"api.example.com", "*.example.net"}
	for _, c := range []struct {
		network, host string
		port          int
		ok            bool
	}{
		{"tcp", "api.example.com", 443, true}, {"udp", "API.Example.com.", 443, true}, {"tcp", "a.b.example.net", 80, true},
		{"tcp", "example.net", 80, false}, {"tcp", "api.example.com.evil.org", 443, false}, {"tcp", "93.184.216.34", 80, false},
		{"tcp", "", 80, false}, {"tcp", "api.example.com", 0, false}, {"tcp", "api.example.com", 65536, false},
		{"tcp", "api.example.com", 53, false}, {"unix", "api.example.com", 80, false}, {"tcp", "a b.example.net", 80, false},
		{"tcp", "a\nb.example.net", 80, false}, {"tcp", strings.Repeat("a.", 150) + "example.net", 80, false}, {"tcp", "localhost", 80, false},
	} {
		if err := check(allow, c.network, c.host, c.port); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPublic(t *testing.T) {
	for _, a := range []string{"93.184.216.34", "1.1.1.1", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34"} {
		if !Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is not", a)
		}
	}
	for _, a := range []string{
		"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.100.100.200",
		"169.254.169.254", "192.0.0.192", "192.0.2.1", "198.18.0.1", "224.0.0.251", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fd00:ec2::254", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001::1", "2001:db8::1", "::127.0.0.1", "100::1", "2606::1%lo",
	} {
		if Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is", a)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("the zero address is")
	}
}

func TestFramesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := frame{id: rapid.Int64Range(1, 1<<62).Draw(t, "id"), kind: kindData, data: rapid.SliceOfN(rapid.Byte(), 0, 500).Draw(t, "data")}
		got, err := decode(f.encode())
		if err != nil || got.id != f.id || got.kind != f.kind || !bytes.Equal(got.data, f.data) {
			t.Fatalf("%v %v", got, err)
		}
	})
}

// FuzzTake has a carrier with one connection take anything: it must not panic,
// block or hold more than its windows.
func FuzzTake(f *testing.F) {
	for kind := byte(0); kind <= kinds; kind++ {
		f.Add(frame{id: 1, kind: kind, data: []byte{255, 255, 255, 255}}.encode(), uint8(3))
	}
	f.Add([]byte{}, uint8(1))
	f.Add(frame{id: -1, kind: kindData}.encode(), uint8(1))
	f.Fuzz(func(t *testing.T, p []byte, n uint8) {
		h := New(func([]byte) error { return nil })
		c, err := h.Accept(1)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if h.Take(p) != nil {
				break
			}
		}
		if c.k.room > window || c.k.queued > window+2*maxChunk || len(c.k.queue) > (window+2*maxChunk)/overhead {
			t.Fatalf("room %d, %d bytes in %d pieces", c.k.room, c.k.queued, len(c.k.queue))
		}
		h.Close()
	})
}
