package sinkhole

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// server is one Serve.
type server struct {
	reporter
	cfg    Config
	ctx    context.Context
	names  *names
	issuer *Issuer
	web    *http.Server
	queue  *mux.Handoff // through it connections reach the HTTP server
	busy   chan struct{}
	raw4   *os.File
	raw6   *os.File
	plain  map[plainPort]*net.UDPConn
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns map[*wireConn]struct{}
}

// memory is what the process that answers takes at most before it collects its garbage early, in bytes:
// with thousands of connections on a busy machine it would otherwise come late.
const memory = 48 << 20

// Serve answers on Arm's listeners until ctx ends, and returns when all it
// started has ended. emit is called from one goroutine at a time and not after
// the return. The files stay the caller's. The process is the sinkhole's own: it bounds the memory of the runtime.
func Serve(ctx context.Context, files []*os.File, c Config, emit func(Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c = c.withDefaults()
	debug.SetMemoryLimit(memory)
	s := &server{cfg: c, ctx: ctx, names: newNames(c), busy: make(chan struct{}, c.MaxBusy), conns: map[*wireConn]struct{}{}}
	s.emit = emit
	defer s.stop()
	if c.Authority != nil {
		m, err := NewIssuer(c.Authority)
		if err != nil {
			return err
		}
		s.issuer = m
	}
	got, err := adopt(files)
	if err != nil {
		return err
	}
	s.raw4, s.raw6, s.plain = got.raw4, got.raw6, got.plain()
	s.serveWeb()
	for _, p := range got.datagrams {
		s.wg.Go(func() { s.serveUDP(p) })
	}
	for _, l := range got.listeners {
		s.wg.Go(func() { s.accept(l) })
	}
	for _, p := range got.packets {
		s.wg.Go(func() { s.servePackets(p) })
	}
	if c.Quiesce != nil {
		s.wg.Go(func() { s.serveQuiesce(got) })
	}
	<-ctx.Done()
	got.close()
	_ = s.queue.Close()
	s.abortAll()
	s.wg.Wait()
	s.abortAll() // what was accepted meanwhile
	_ = s.web.Close()
	return nil
}

func (s *server) accept(l *net.TCPListener) {
	for {
		c, err := l.AcceptTCP()
		if s.ctx.Err() != nil {
			if err == nil {
				_ = c.Close()
			}
			return
		}
		if err != nil { // descriptors or memory ran out: make room and go on
			s.loss("accept: "+err.Error(), 0)
			s.evict(func(*wireConn) bool { return true }, 0)
			s.pause(10 * time.Millisecond)
			continue
		}
		dst := c.LocalAddr().(*net.TCPAddr).AddrPort()
		dst = netip.AddrPortFrom(dst.Addr().Unmap(), dst.Port())
		src := c.RemoteAddr().(*net.TCPAddr).AddrPort()
		src = netip.AddrPortFrom(src.Addr().Unmap(), src.Port())
		if dst.Addr() == l.Addr().(*net.TCPAddr).AddrPort().Addr() {
			_ = c.SetLinger(0) // somebody looks for the listener itself
			_ = c.Close()
			continue
		}
		if s.own(dst.Addr()) && !s.servesAt(dst.Port()) { // where rules cannot keep it away
			_ = c.SetLinger(0)
			_ = c.Close()
			s.begin(TypeRefused, "tcp", src, dst, 0).end()
			continue
		}
		w := &wireConn{TCPConn: c, s: s, f: s.open("tcp", src, dst)}
		w.touch()
		if !s.admit(w) {
			w.abort("the run ended")
			return
		}
		s.wg.Go(func() { s.serveTCP(w) })
	}
}

// own reports whether an address is the namespace's own, and not to be answered on.
func (s *server) own(a netip.Addr) bool {
	own := s.cfg.own()
	return !s.cfg.AnswerLoopback && (a.IsLoopback() || a == own[0] || a == own[1])
}

// servesAt reports whether a service has this port.
func (s *server) servesAt(port uint16) bool {
	return slices.ContainsFunc(s.cfg.Services, func(v Service) bool { return v.Port == port })
}

func (s *server) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

// patience is how long a connection must have been idle to be closed for
// another one's sake.
const patience = time.Second

// admit waits until there is room for w.
func (s *server) admit(w *wireConn) bool {
	for s.ctx.Err() == nil {
		s.mu.Lock()
		room := len(s.conns) < s.cfg.MaxConns
		if room {
			s.conns[w] = struct{}{}
		}
		s.mu.Unlock()
		if room {
			return true
		}
		if !s.evict(func(*wireConn) bool { return true }, patience) {
			s.pause(20 * time.Millisecond)
		}
	}
	return false
}

// occupy waits for one of the places of those that speak TLS or HTTP. A
// connection has one at most, whatever it speaks in a tunnel.
func (s *server) occupy(w *wireConn) bool {
	for !w.isBusy() {
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case s.busy <- struct{}{}:
			t.Stop()
			w.mu.Lock()
			gone := w.closed
			w.busy = !gone
			w.mu.Unlock()
			if gone {
				<-s.busy
			}
			w.touch() // the time in the queue is not the client's, and no reason to be evicted
			return !gone
		case <-t.C:
			// One between two requests first: its client expects that of a server.
			if !s.evict(func(o *wireConn) bool { return o.isBusy() && o.resting.Load() }, patience/4) {
				s.evict((*wireConn).isBusy, 2*patience)
			}
		case <-s.ctx.Done():
			t.Stop()
			return false
		}
	}
	return true
}

// evict closes the connection that has been idle longest, if that is long enough.
func (s *server) evict(may func(*wireConn) bool, idle time.Duration) bool {
	var victim *wireConn
	oldest := now() - idle
	s.mu.Lock()
	for w := range s.conns {
		if at := time.Duration(w.active.Load()); at <= oldest && may(w) {
			victim, oldest = w, at
		}
	}
	s.mu.Unlock()
	if victim == nil {
		return false
	}
	if !victim.resting.Load() {
		s.loss("a connection was closed to make room", victim.f.id)
	}
	victim.abort("closed to make room")
	return true
}

func (s *server) abortAll() {
	s.mu.Lock()
	all := make([]*wireConn, 0, len(s.conns))
	for w := range s.conns {
		all = append(all, w)
	}
	s.mu.Unlock()
	for _, w := range all {
		w.abort("")
	}
}

// wireConn is an accepted connection; its Close ends the flow.
type wireConn struct {
	*net.TCPConn
	s       *server
	f       *flow
	active  atomic.Int64
	resting atomic.Bool // between two requests, where any server may close

	prefix []byte // read ahead, and not yet handed on
	mu     sync.Mutex
	closed bool
	busy   bool
}

func (w *wireConn) touch() { w.active.Store(int64(now())) }

func (w *wireConn) isBusy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy
}

// Read hands on what was read ahead first.
func (w *wireConn) Read(p []byte) (int, error) {
	if len(w.prefix) > 0 {
		n := copy(p, w.prefix)
		w.prefix = w.prefix[n:]
		if len(w.prefix) == 0 {
			w.prefix = nil
		}
		return n, nil
	}
	if len(p) == 0 {
		return 0, nil
	}
	n := 0
	err := w.wait(func(fd int) (_ int, err error) {
		n, err = w.take(fd, p)
		return n, err
	})
	return max(n, 0), err
}

// Write gives a client that does not read a bounded time.
func (w *wireConn) Write(p []byte) (int, error) {
	_ = w.SetWriteDeadline(time.Now().Add(w.s.cfg.Header))
	n, err := w.TCPConn.Write(p)
	w.f.down.Add(int64(n))
	w.touch()
	return n, err
}

// release gives the place of one that speaks TLS or HTTP to another.
func (w *wireConn) release() {
	w.mu.Lock()
	busy := w.busy
	w.busy = false
	w.mu.Unlock()
	if busy {
		<-w.s.busy
	}
}

// Close ends the connection and its flow.
func (w *wireConn) Close() error {
	w.mu.Lock()
	was := w.closed
	w.closed = true
	w.mu.Unlock()
	if was {
		return net.ErrClosed
	}
	w.release()
	err := w.TCPConn.Close()
	w.f.end()
	w.s.mu.Lock()
	delete(w.s.conns, w)
	w.s.mu.Unlock()
	return err
}

func (w *wireConn) abort(reason string) {
	if reason != "" {
		w.f.fail(reason)
	}
	_ = w.Close()
}
