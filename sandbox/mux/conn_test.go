package mux

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/nettest"
	"pgregory.net/rapid"
)

var (
	errTest = errors.New("the test is over")
	here    = Addr{Net: "tcp", Host: "localhost", Port: 80}
)

// sides are two endpoints with a pipe each way, as agent and host have it.
func sides(t testing.TB, host, agent *Endpoint) {
	t.Helper()
	var wg sync.WaitGroup
	pass := func(from, to *Endpoint) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer w.Close()
			_ = from.Send(NewWriter(w)) // the reader may have gone first
		})
		wg.Go(func() {
			defer r.Close()
			m := NewReader(r)
			for {
				f, err := m.Next()
				if err != nil {
					return
				}
				if err := to.Take(f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	pass(host, agent)
	pass(agent, host)
	t.Cleanup(func() {
		host.Close(errTest)
		agent.Close(errTest)
		wg.Wait()
	})
}

// still is a clock that stands.
func still() time.Duration { return 7 }

// served are connections that an endpoint has accepted, each until the test ends.
func served(t testing.TB) (func(*Conn), chan *Conn) {
	got := make(chan *Conn, MaxConns)
	return func(c *Conn) {
		if c.Accept() != nil {
			return
		}
		got <- c
		<-t.Context().Done()
	}, got
}

func open(t testing.TB, e *Endpoint) *Conn {
	t.Helper()
	c, err := e.Open(context.Background(), here)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConnIsANetConn(t *testing.T) {
	for _, agentOpens := range []bool{false, true} {
		t.Run(fmt.Sprintf("agent opens=%t", agentOpens), func(t *testing.T) {
			nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
				var wg sync.WaitGroup
				over, got := make(chan struct{}), make(chan *Conn, 1)
				serve := func(c *Conn) {
					_ = c.Accept()
					got <- c
					<-over
				}
				opener, other := NewHost(serve), NewAgent(still, serve)
				if agentOpens {
					opener, other = NewAgent(still, serve), NewHost(serve)
				}
				pipe := func(from, to *Endpoint) {
					r, w := io.Pipe()
					wg.Go(func() { _ = from.Send(NewWriter(w)); w.Close() })
					wg.Go(func() {
						for m := NewReader(r); ; {
							f, err := m.Next()
							if err != nil {
								return
							}
							if err := to.Take(f); err != nil {
								t.Error(err)
							}
						}
					})
				}
				pipe(opener, other)
				pipe(other, opener)
				c, err := opener.Open(context.Background(), here)
				if err != nil {
					return nil, nil, nil, err
				}
				return c, <-got, func() {
					close(over)
					opener.Close(errTest)
					other.Close(errTest)
					wg.Wait()
				}, nil
			})
		})
	}
}

// A refusal and a reset bring their reason, a context its cause, and the room is free again.
func TestReasonsReachThePeer(t *testing.T) {
	serve, got := served(t)
	var refuse string
	host := NewHost(func(c *Conn) {
		if c.Addr().Host == "refuse" {
			c.Reset(refuse)
			return
		}
		if c.Addr().Host == "wait" {
			<-c.Context().Done()
			return
		}
		serve(c)
	})
	agent := NewAgent(still, nil)
	sides(t, host, agent)
	for _, refuse = range []string{"no such host", strings.Repeat("long", 1000)} {
		_, err := agent.Open(context.Background(), Addr{Net: "tcp", Host: "refuse"})
		var reset *ResetError
		if !errors.As(err, &reset) || reset.Reason != refuse[:min(len(refuse), maxReason)] {
			t.Errorf("error %v", err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := agent.Open(ctx, Addr{Net: "udp", Host: "wait"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	c := open(t, agent)
	(<-got).Reset("I am tired")
	if _, err := c.Read(make([]byte, 1)); err == nil || err.Error() != `connection reset: "I am tired"` {
		t.Errorf("read: %v", err)
	}
	if _, err := c.Write([]byte("x")); err == nil {
		t.Error("written to a connection that was reset")
	}
	_ = c.Close()
	if _, err := agent.Open(context.Background(), Addr{Net: "sctp", Host: "/run/docker.sock"}); err == nil {
		t.Error("a network that there is not was taken")
	}
	for range MaxConns {
		open(t, agent)
	}
	if _, err := agent.Open(context.Background(), here); err == nil {
		t.Error("one more than may be was opened")
	}
	agent.Close(errTest)
	if _, err := agent.Open(context.Background(), here); !errors.Is(err, errTest) {
		t.Errorf("opened after the end: %v", err)
	}
}

// What has come is read after the end of an endpoint.
func TestWhatHasComeIsReadAfterTheEnd(t *testing.T) {
	e, c := accepted(t)
	tell(t, e, message{1, msgData, []byte("last words")}, nil)
	e.Close(errTest)
	b := make([]byte, 100)
	if n, err := c.Read(b); err != nil || string(b[:n]) != "last words" {
		t.Errorf("%q, %v", b[:n], err)
	}
	if _, err := c.Read(b); !errors.Is(err, errTest) {
		t.Errorf("after that: %v", err)
	}
}

// accepted is a host with connection 1, opened by it and accepted.
func accepted(t testing.TB) (*Endpoint, *Conn) {
	e := NewHost(func(c *Conn) { <-c.Context().Done() })
	t.Cleanup(func() { e.Close(errTest) })
	c, err := e.request(here)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Take(Frame{Stamp: 3, Payload: message{1, msgAccept, nil}.payload()}); err != nil {
		t.Fatal(err)
	}
	return e, c
}

func (m message) payload() []byte { return m.frame(0)[headerSize:] }

// tell has an endpoint take a message, which it refuses if want is not nil.
func tell(t testing.TB, e *Endpoint, m message, want error) {
	t.Helper()
	if err := e.Take(Frame{Payload: m.payload()}); (err != nil) != (want != nil) {
		t.Fatalf("kind %d with %d bytes: %v", m.kind, len(m.data), err)
	}
}

// A writer waits at the window, and goes on when it is opened.
func TestWindowHoldsAWriter(t *testing.T) {
	e, c := accepted(t)
	wrote := make(chan int)
	go func() {
		n, err := c.Write(make([]byte, 16<<20))
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("write: %v", err)
		}
		wrote <- n
	}()
	// The window is full when there is no room for one more piece.
	full := func() {
		for e.mu.Lock(); c.sendWindow >= maxData+overhead; e.mu.Lock() {
			e.mu.Unlock()
			runtime.Gosched()
		}
		defer e.mu.Unlock()
		if e.queued > window+2*(headerSize+messageHeader+overhead) {
			t.Errorf("%d bytes wait", e.queued)
		}
	}
	full()
	for e.nextFrame(); len(e.out) > 0; e.nextFrame() {
	}
	tell(t, e, message{1, msgWindow, binary.LittleEndian.AppendUint32(nil, maxData+overhead)}, nil)
	full()
	_ = c.Close()
	if n, want := <-wrote, (window/(maxData+overhead)+1)*maxData; n != want {
		t.Errorf("%d bytes were written, want %d", n, want)
	}
}

// A reader opens the window as far as it has read, however it reads.
func TestReadingOpensTheWindow(t *testing.T) {
	e, c := accepted(t)
	sent := 0
	for n := range 5000 {
		p := make([]byte, n%977)
		tell(t, e, message{1, msgData, p}, nil)
		if sent += len(p); n%3 == 2 {
			if _, err := io.ReadFull(c, make([]byte, sent)); err != nil {
				t.Fatal(err)
			}
			sent = 0
		}
		if c.receiveWindow < window/2 {
			t.Fatalf("the window is %d", c.receiveWindow)
		}
	}
}

func TestAPeerThatBreaksTheProtocol(t *testing.T) {
	addr, _ := here.encode()
	update := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	var many, big []message
	for n := range uint32(MaxConns + 1) {
		many = append(many, message{2 + 2*n, msgOpen, addr})
	}
	for range window/(maxData+overhead) + 1 {
		big = append(big, message{1, msgData, make([]byte, maxData)})
	}
	empty := make([]message, window/overhead+1)
	for i := range empty {
		empty[i] = message{1, msgData, nil}
	}
	for want, list := range map[string][]message{
		"message of connection 3, which is not open": {{3, msgData, nil}},
		"message of connection 2, which is not open": {{2, msgClose, nil}},
		"unknown kind 0":               {{1, 0, nil}},
		"unknown kind 7":               {{1, msgKinds, nil}},
		"kind 3 with 65537 bytes":      {{1, msgData, make([]byte, maxData+1)}},
		"kind 2 with 1 bytes":          {{1, msgAccept, []byte("x")}},
		"kind 5 with 3 bytes":          {{1, msgWindow, []byte("xyz")}},
		"kind 6 with 241 bytes":        {{1, msgClose, make([]byte, maxReason+1)}},
		"accepted out of turn":         {{1, msgAccept, nil}},
		"a message before it is":       {{2, msgOpen, addr}, {2, msgData, nil}},
		"2: it is accepted":            {{2, msgOpen, addr}, {2, msgAccept, nil}},
		"grows by 0":                   {{1, msgWindow, update(0)}},
		"grows by 1":                   {{1, msgWindow, update(1)}},
		"grows by 4294967295":          {{1, msgWindow, update(1<<32 - 1)}},
		"a message after its end":      {{1, msgEnd, nil}, {1, msgData, nil}},
		"a message after its close":    {{1, msgClose, nil}, {1, msgWindow, update(1)}},
		"1 was opened out of turn":     {{1, msgOpen, addr}},
		"2 was opened out of turn":     {{4, msgOpen, addr}, {2, msgOpen, addr}},
		"4 was opened out of turn":     {{4, msgOpen, addr}, {4, msgOpen, addr}},
		"address of 2 bytes":           {{2, msgOpen, addr[:2]}},
		"address of 12 bytes":          {{2, msgOpen, append([]byte{9}, addr[1:]...)}},
		"more than 64 connections":     many,
		"more came than its window al": big,
		"1: more came than its window": empty,
	} {
		t.Run(want, func(t *testing.T) {
			e, _ := accepted(t)
			for _, m := range list[:len(list)-1] {
				tell(t, e, m, nil)
			}
			if err := e.Take(Frame{Payload: list[len(list)-1].payload()}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("opens where none may", func(t *testing.T) {
		tell(t, NewHost(nil), message{2, msgOpen, addr}, errTest)
	})
	t.Run("does not read", func(t *testing.T) {
		e := NewHost(func(c *Conn) { <-c.Context().Done() })
		defer e.Close(errTest)
		for id := uint32(2); id < 1<<30; id += 2 {
			if e.Take(Frame{Payload: message{id, msgOpen, addr}.payload()}) != nil {
				return
			}
			e.mu.Lock()
			c := e.conns[id]
			e.mu.Unlock()
			c.Reset(strings.Repeat("x", maxReason))
			if e.Take(Frame{Payload: message{id, msgClose, nil}.payload()}) != nil {
				return
			}
		}
		t.Error("what it does not read is kept without end")
	})
}

// Only what comes on this side's own connections is heard.
func TestHeard(t *testing.T) {
	addr, _ := here.encode()
	e, _ := accepted(t)
	if got := e.Heard(); got != 3 {
		t.Errorf("heard at %d", got)
	}
	if err := e.Take(Frame{Stamp: 9, Payload: message{2, msgOpen, addr}.payload()}); err != nil {
		t.Fatal(err)
	}
	if got := e.Heard(); got != 3 {
		t.Errorf("heard at %d what the peer opened", got)
	}
}

func TestMessagesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message{rapid.Uint32().Draw(t, "id"), msgData, rapid.SliceOfN(rapid.Byte(), 0, 500).Draw(t, "data")}
		got, err := decodeMessage(m.payload())
		if err != nil || got.id != m.id || got.kind != m.kind || !bytes.Equal(got.data, m.data) {
			t.Fatalf("%v %v", got, err)
		}
		a := Addr{rapid.SampledFrom(addrNets[:]).Draw(t, "net"), string(rapid.SliceOfN(rapid.Byte(), 0, maxHost).Draw(t, "host")), rapid.IntRange(0, 65535).Draw(t, "port")}
		b, err := a.encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decodeAddr(b); err != nil || back != a {
			t.Fatalf("%v %v", back, err)
		}
	})
}

// FuzzTake has an endpoint with a connection of its own take anything, each message
// after a length: it must not panic, block or hold more than its windows.
func FuzzTake(f *testing.F) {
	addr, _ := here.encode()
	var all []byte
	for kind := byte(0); kind <= msgKinds; kind++ {
		one := message{1, kind, []byte{0, 1, 0, 0}}.payload()
		f.Add(append([]byte{byte(len(one))}, one...))
		for _, m := range []message{{2, msgOpen, addr}, {uint32(kind), kind, []byte{5}}} {
			p := m.payload()
			all = append(append(all, byte(len(p))), p...)
		}
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, p []byte) {
		e, c := accepted(t)
		_ = c.SetReadDeadline(time.Unix(1, 0))
		defer e.Close(errTest)
		for len(p) > 0 {
			n := min(int(p[0]), len(p)-1)
			err := e.Take(Frame{Payload: p[1 : 1+n]})
			p = p[1+n:]
			e.mu.Lock()
			held := 0
			for _, q := range c.queue {
				held += cost(q)
			}
			if held > window || c.sendWindow > window || len(e.conns) > 2*MaxConns || e.queued > maxQueued {
				t.Errorf("%d held, %d to be sent, %d connections, %d queued", held, c.sendWindow, len(e.conns), e.queued)
			}
			e.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
}
