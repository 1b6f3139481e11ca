package sinkhole

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// buffers hold what was just received. An idle connection has none.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// receive waits for bytes and hands them to f. It takes a buffer only when
// there is something to read, so that waiting costs next to nothing.
func (w *wireConn) receive(limit int, f func([]byte)) error {
	return w.wait(func(fd int) (n int, err error) {
		b := buffers.Get().(*[32 << 10]byte)
		defer buffers.Put(b)
		if n, err = w.take(fd, b[:min(limit, len(b))]); n > 0 {
			f(b[:n])
		}
		return n, err
	})
}

// wait calls take as soon as there is something to read.
func (w *wireConn) wait(take func(fd int) (int, error)) error {
	rc, err := w.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var failed error
	err = rc.Read(func(fd uintptr) bool {
		n, failed = take(int(fd))
		return !errors.Is(failed, unix.EAGAIN)
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return os.NewSyscallError("recvmsg", failed)
	case n <= 0:
		return io.EOF
	}
	return nil
}

// take reads what is there, and notes when the kernel got it.
func (w *wireConn) take(fd int, b []byte) (int, error) {
	var oob [64]byte
	for {
		n, on, _, _, err := unix.Recvmsg(fd, b, oob[:], 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n > 0 {
			_, _, arrived := control(oob[:on])
			w.f.arrived.Store(int64(arrived))
			w.f.up.Add(int64(n))
			w.touch()
		}
		return n, err
	}
}

// serveTCP finds out what a connection speaks and answers it.
func (s *server) serveTCP(w *wireConn) {
	if w.f.known.Allowed || w.f.known.Service != "" {
		s.relay(w)
		return
	}
	port := w.f.known.Dest.Port()
	if port == dnsPort {
		s.serveDNS(w.plain(nil), "dns")
		return
	}
	head, k, ended := s.readHead(w, port)
	if ended {
		return
	}
	switch k {
	case kindTLS:
		s.serveTLS(w, head)
	case kindHTTP, kindHTTP2:
		if !s.occupy(w) {
			w.plain(head).record()
			_ = w.Close()
			return
		}
		s.handOff(w.plain(head), k)
	default:
		t := lineProtocolOf(port)
		switch {
		case t != nil:
		case isMQTT(head):
			t = mqttProtocol
		case isPostgres(head):
			t = postgres
		}
		if t == nil {
			s.raw(w, head)
			return
		}
		s.serveLines(w.plain(head), t)
	}
}

// readHead reads what a client says first, until it tells a protocol. A client that
// says nothing is greeted where its port wants that; ended says that the
// connection is over by then.
func (s *server) readHead(w *wireConn, port uint16) (head []byte, k kind, ended bool) {
	spoke := false
	for k == kindUnknown {
		wait := s.cfg.Idle
		if len(head) > 0 {
			wait = partWait
		} else if !spoke {
			wait = greetingWait(port)
		}
		_ = w.SetReadDeadline(time.Now().Add(wait))
		err := w.receive(sniffLimit-len(head), func(p []byte) { head = append(head, p...) })
		switch {
		case err == nil:
			k = sniff(head)
		case errors.Is(err, os.ErrDeadlineExceeded) && len(head) == 0 && !spoke:
			spoke = true
			if t := lineProtocolOf(port); t != nil {
				s.serveLines(w.plain(nil), t)
				return nil, k, true
			}
		case errors.Is(err, os.ErrDeadlineExceeded) && len(head) == 0:
			w.abort("nothing was sent")
			return nil, k, true
		case len(head) == 0:
			if !errors.Is(err, io.EOF) {
				w.f.fail(err.Error())
			}
			_ = w.Close()
			return nil, k, true
		default:
			k = kindRaw
		}
	}
	_ = w.SetReadDeadline(time.Time{})
	return head, k, false
}

// partWait is how long a client may take over the first bytes of a protocol.
const partWait = 2 * time.Second

// raw keeps whatever comes, and answers nothing.
func (s *server) raw(w *wireConn, head []byte) {
	defer func() { _ = w.Close() }()
	st := w.f.wireStream()
	st.write(head)
	for {
		_ = w.SetReadDeadline(time.Now().Add(s.cfg.Idle))
		if err := w.receive(32<<10, st.write); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				w.f.fail(err.Error())
			}
			return
		}
	}
}

// tap is a connection without its TLS: what is read from it is recorded.
type tap struct {
	net.Conn
	w   *wireConn
	st  *stream
	pre []byte // read ahead, not yet recorded
	got atomic.Bool
	eof atomic.Bool
	// shaken is when the TLS handshake was done, 0 without TLS.
	shaken time.Duration
	watch  *frameWatch // of HTTP/2
}

func (w *wireConn) plain(head []byte) *tap {
	return &tap{Conn: w, w: w, st: w.f.wireStream(), pre: head}
}

// Read records what it returns.
func (t *tap) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(t.pre) > 0 {
		n := copy(p, t.pre)
		t.st.write(t.pre[:n])
		if t.pre = t.pre[n:]; len(t.pre) == 0 {
			t.pre = nil
		}
		t.got.Store(true)
		return n, nil
	}
	n, err := t.Conn.Read(p)
	if n > 0 {
		t.got.Store(true)
		t.st.write(p[:n])
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.eof.Store(true)
		t.left(err)
	}
	return n, err
}

// Write looks at what HTTP/2 says of what it got.
func (t *tap) Write(p []byte) (int, error) {
	if t.watch != nil {
		t.watch.sent(p)
	}
	return t.Conn.Write(p)
}

// doubt is how soon after the handshake a client leaves that did not like the
// certificate: some look at it only then, and say nothing of it.
const doubt = time.Second

// left judges the end of TLS through which nothing came: an alert, or an end
// right after the handshake, is a refusal, and what would have come is not known.
func (t *tap) left(err error) {
	if t.got.Load() || len(t.pre) > 0 || t.shaken == 0 || errors.Is(err, net.ErrClosed) {
		return
	}
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" || now()-t.shaken < doubt {
		t.w.opaque("the client left after the handshake: " + err.Error())
	}
}

// record takes down what was read ahead and will not be read.
func (t *tap) record() {
	t.st.write(t.pre)
	t.pre = nil
}

// The limits of reading on after the answer.
const (
	drainIdle  = 200 * time.Millisecond
	drainTotal = 10 * time.Second
)

// Close reads to the end first: what a client sends after the part that was
// understood is evidence too.
func (t *tap) Close() error {
	if !t.eof.Load() && t.w.s.ctx.Err() == nil {
		t.drain()
	}
	return t.Conn.Close()
}

func (t *tap) drain() {
	if c, ok := t.Conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
	read := func() error { return t.w.receive(32<<10, t.st.write) }
	if t.Conn == net.Conn(t.w) && len(t.pre)+len(t.w.prefix) == 0 {
		t.w.release() // it costs no more than any connection from here on
	} else {
		b := buffers.Get().(*[32 << 10]byte)
		defer buffers.Put(b)
		read = func() error {
			_, err := t.Read(b[:])
			return err
		}
	}
	for end := time.Now().Add(drainTotal); time.Now().Before(end); {
		_ = t.SetReadDeadline(time.Now().Add(drainIdle))
		if read() != nil {
			return
		}
	}
	t.w.s.loss("a connection was not read to its end", t.w.f.id)
}

// opaque marks the flow as one whose payload could not be read.
func (w *wireConn) opaque(reason string) {
	w.f.learn(func(e *Event) { e.Opaque = true })
	w.f.fail(reason)
}
