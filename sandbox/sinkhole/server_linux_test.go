package sinkhole

import (
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"
)

// bareServer is a server without listeners, for what one connection goes through.
func bareServer(t *testing.T, c Config) *server {
	t.Helper()
	c = c.withDefaults()
	s := &server{cfg: c, ctx: t.Context(), names: newNames(Config{MaxNames: 1}), busy: make(chan struct{}, c.MaxBusy), conns: map[*wireConn]struct{}{}}
	s.emit = func(Event) {}
	return s
}

// connected is a client's end of a connection, and the server's.
func connected(t *testing.T, s *server) (net.Conn, *wireConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	tcp := c.(*net.TCPConn)
	w := &wireConn{TCPConn: tcp, s: s, f: s.open("tcp", client.LocalAddr().(*net.TCPAddr).AddrPort(), tcp.LocalAddr().(*net.TCPAddr).AddrPort())}
	w.touch()
	return client, w
}

// What a tunnel carries is TLS or HTTP once more, on a connection that has its place already.
func TestAConnectionTakesOnePlace(t *testing.T) {
	s := bareServer(t, Config{MaxBusy: 2})
	_, w := connected(t, s)
	for range 2 {
		if !s.occupy(w) {
			t.Fatal("no place")
		}
	}
	if len(s.busy) != 1 {
		t.Errorf("%d places are taken", len(s.busy))
	}
	_ = w.Close()
	if len(s.busy) != 0 {
		t.Errorf("%d places stay taken", len(s.busy))
	}
	if s.occupy(w) {
		t.Error("a connection that is closed has got a place")
	}
}

// stuck is a peer that takes no more.
type stuck struct {
	net.Conn
	writes chan string
}

func (s stuck) Write(p []byte) (int, error) {
	s.writes <- string(p)
	return 0, os.ErrDeadlineExceeded
}

// A stream to an allowed host has no holes: what could not be passed on ends it.
func TestWhatIsCarriedHasNoHoles(t *testing.T) {
	s := bareServer(t, Config{})
	client, w := connected(t, s)
	here, there := net.Pipe()
	defer there.Close()
	peer, done := stuck{here, make(chan string, 8)}, make(chan struct{})
	go func() {
		defer close(done)
		s.relayUp(w, peer, deaf{})
	}()
	if _, err := io.WriteString(client, "one"); err != nil {
		t.Fatal(err)
	}
	got := []string{<-peer.writes}
	_, _ = io.WriteString(client, "two")
	client.Close()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it goes on for ever")
	}
	close(peer.writes)
	for p := range peer.writes {
		got = append(got, p)
	}
	if !slices.Equal(got, []string{"one"}) {
		t.Errorf("behind a hole it went on: %q", got)
	}
	if w.f.err == "" {
		t.Error("nothing is said of it")
	}
}

// A connection that waited for its place is not the first to be closed for the next one.
func TestWaitingForAPlaceIsNotIdle(t *testing.T) {
	t.Parallel()
	s := bareServer(t, Config{MaxBusy: 1})
	_, w := connected(t, s)
	w.active.Store(int64(now() - time.Hour))
	if !s.occupy(w) {
		t.Fatal("it got no place")
	}
	if idle := now() - time.Duration(w.active.Load()); idle > time.Minute {
		t.Errorf("it counts as idle for %s", idle)
	}
}
