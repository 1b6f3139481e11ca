package sinkhole

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// relay takes what the client says to an allowed host, and back what that says.
// Both ends are closed by the time it returns.
func (s *server) relay(w *wireConn) {
	defer func() { _ = w.Close() }()
	peer, err := s.dial(w.f)
	if err != nil {
		_ = w.SetLinger(0)
		return
	}
	defer func() { _ = peer.Close() }()
	defer context.AfterFunc(s.ctx, func() { _ = peer.Close() })()
	heard := s.dialectOf(w.f)
	var both sync.WaitGroup
	both.Go(func() { s.relayUp(w, peer, heard) })
	both.Go(func() { s.relayDown(w, peer, heard) })
	both.Wait()
	heard.Close()
}

func (s *server) dial(f *flow) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Header)
	defer cancel()
	network, host := f.known.Proto, f.known.Host
	if f.known.Service != "" {
		network, host = mux.NetService, f.known.Service
	}
	peer, err := s.cfg.Dial(ctx, network, host, int(f.known.Dest.Port()))
	if err != nil {
		f.fail("what the connection leads to was not reached: " + err.Error())
	}
	return peer, err
}

// relayUp records what it relays.
func (s *server) relayUp(w *wireConn, peer net.Conn, heard listener) {
	st, look := w.f.wireStream(), &helloReader{w: w, done: w.f.known.Service != ""}
	var failed error
	for {
		_ = w.SetReadDeadline(time.Now().Add(s.cfg.Idle))
		err := w.receive(32<<10, func(p []byte) {
			st.write(p)
			look.feed(p)
			heard.Client(p, now())
			_ = peer.SetWriteDeadline(time.Now().Add(s.cfg.Header))
			_, failed = peer.Write(p)
		})
		if failed == nil && (err == nil || w.moves(err)) {
			continue
		}
		err = errors.Join(failed, err)
		if errors.Is(err, io.EOF) {
			if c, ok := peer.(interface{ CloseWrite() error }); ok && c.CloseWrite() == nil {
				return
			}
		} else if !errors.Is(err, net.ErrClosed) {
			w.f.fail(err.Error())
		}
		_ = peer.Close()
		return
	}
}

// relayDown ends with the peer's word, or with the connection.
func (s *server) relayDown(w *wireConn, peer net.Conn, heard listener) {
	b := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(b)
	for {
		_ = peer.SetReadDeadline(time.Now().Add(s.cfg.Idle))
		n, err := peer.Read(b[:])
		if n > 0 {
			heard.Server(b[:n]) // before the client hears it, so that it is told before what it leads to
			if _, bad := w.Write(b[:n]); bad != nil {
				err = bad
			}
		}
		if err == nil || w.moves(err) {
			continue
		}
		if !errors.Is(err, io.EOF) || w.CloseWrite() != nil {
			_ = w.TCPConn.Close() // ends relayUp
		}
		return
	}
}

// moves reports whether a read in vain is no reason to end: the other direction moves, or the
// peer is a service, which lets clients be silent.
func (w *wireConn) moves(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) && (w.f.known.Service != "" || time.Duration(w.active.Load()) > now()-w.s.cfg.Idle)
}

// helloReader looks for a ClientHello in what a client says first.
type helloReader struct {
	w    *wireConn
	head []byte
	done bool
}

// maxHello bounds what is held for it: a record, as TLS bounds those.
const maxHello = 5 + 16<<10

func (h *helloReader) feed(p []byte) {
	if h.done {
		return
	}
	h.head = append(h.head, p[:min(len(p), maxHello-len(h.head))]...)
	k := sniff(h.head)
	switch {
	case k == kindUnknown && len(h.head) < maxHello:
		return
	case k == kindTLS && (len(h.head) < 5 || len(h.head) < min(maxHello, 5+int(binary.BigEndian.Uint16(h.head[3:])))):
		return
	case k == kindTLS:
		h.read()
	case k == kindHTTP:
		h.w.f.learn(func(e *Event) { e.App = "http/1.1" })
	case k == kindHTTP2:
		h.w.f.learn(func(e *Event) { e.App = "h2" })
	}
	h.done, h.head = true, nil
}

var errRead = errors.New("read")

// read has crypto/tls read the hello, and goes no further.
func (h *helloReader) read() {
	h.w.f.learn(func(e *Event) { e.TLS, e.App, e.Opaque = true, "tls", true })
	h.w.f.fail("TLS to an allowed host is not opened")
	conn := tls.Server(replayConn{bytes.NewReader(h.head)}, &tls.Config{
		MinVersion: tls.VersionTLS10,
		GetConfigForClient: func(i *tls.ClientHelloInfo) (*tls.Config, error) {
			h.w.f.learn(func(e *Event) { e.SNI = i.ServerName })
			return nil, errRead
		},
	})
	_ = conn.Handshake()
	h.w.f.report(Event{Type: TypeTLS})
}

// replayConn is a connection that returns the bytes of a head that was read already.
type replayConn struct{ *bytes.Reader }

// Write drops what nobody hears.
func (replayConn) Write(p []byte) (int, error) { return len(p), nil }

// The rest of net.Conn does nothing.
func (replayConn) Close() error                     { return nil }
func (replayConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (replayConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (replayConn) SetDeadline(time.Time) error      { return nil }
func (replayConn) SetReadDeadline(time.Time) error  { return nil }
func (replayConn) SetWriteDeadline(time.Time) error { return nil }
