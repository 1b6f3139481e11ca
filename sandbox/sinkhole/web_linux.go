package sinkhole

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// handOff gives a connection to the HTTP server.
func (s *server) handOff(t *tap, k kind) {
	app := "http/1.1"
	if k == kindHTTP2 {
		app = "h2"
		t.st.hush() // requests have a view of their own, headers decoded
		t.watch = &frameWatch{broken: func(code uint32, all bool) {
			if all {
				t.w.opaque(fmt.Sprintf("HTTP/2 was not understood (error %d)", code))
				return
			}
			t.w.f.fail(fmt.Sprintf("a stream of HTTP/2 was broken off (error %d)", code))
			s.loss("a stream of HTTP/2 was broken off", t.w.f.id)
		}}
	}
	t.w.f.learn(func(e *Event) { e.App = app })
	if !s.queue.Put(t) {
		t.w.abort("")
	}
}

type tapKey struct{}

func (s *server) serveWeb() {
	s.queue = mux.NewHandoff()
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // TLS is off by the time a connection gets here
	s.web = &http.Server{
		Handler: http.HandlerFunc(s.serveHTTP), Protocols: &protocols,
		ReadHeaderTimeout: s.cfg.Header, IdleTimeout: s.cfg.Idle, MaxHeaderBytes: 256 << 10,
		ErrorLog:    log.New(io.Discard, "", 0),
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: 32, MaxReceiveBufferPerConnection: 256 << 10, MaxReceiveBufferPerStream: 128 << 10},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, tapKey{}, c) },
		ConnState: func(c net.Conn, state http.ConnState) {
			if t, ok := c.(*tap); ok {
				t.w.resting.Store(state == http.StateIdle)
			}
		},
		DisableGeneralOptionsHandler: true,
	}
	s.wg.Go(func() { _ = s.web.Serve(s.queue) })
}

// serveHTTP records a request to its end and answers it.
func (s *server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	t, ok := r.Context().Value(tapKey{}).(*tap)
	if !ok {
		s.loss("a request without a connection", 0)
		return
	}
	f := t.w.f
	n := int(f.requests.Add(1))
	path := r.URL.RequestURI()
	f.report(Event{Type: TypeRequest, Request: n, Method: r.Method, Authority: r.Host, Path: path})
	if r.Method == http.MethodConnect || isWebSocket(r) {
		s.hijack(w, r, t)
		return
	}
	var view *stream
	if r.ProtoMajor == 2 || len(r.TransferEncoding) > 0 {
		view = f.stream(n, ViewRequest)
		defer view.close()
		view.write(headerText(r))
	}
	keep := 0
	if kind := r.Header.Get("Content-Type"); kind == dnsMessage || strings.Contains(kind, "json") {
		keep = maxGraphQL
	}
	body, err := s.readBody(http.NewResponseController(w), r.Body, view, keep)
	if view != nil {
		for k, v := range r.Trailer {
			view.write([]byte(k + ": " + strings.Join(v, ", ") + "\r\n"))
		}
	}
	if err != nil {
		f.fail("request body: " + err.Error())
		w.Header().Set("Connection", "close")
	}
	if query := dohQuery(r, body); query != nil {
		if answer := s.answer(f, query, "doh", 64<<10); answer != nil {
			w.Header().Set("Content-Type", dnsMessage)
			_, _ = w.Write(answer)
			return
		}
	}
	s.reply(w, r, f, body)
}

// headerText is a request's header as HTTP/1.1 would have it.
func headerText(r *http.Request) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), r.Proto, r.Host)
	keys := make([]string, 0, len(r.Header))
	for k := range r.Header {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		for _, v := range r.Header[k] {
			b.WriteString(k + ": " + v + "\r\n")
		}
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// readBody reads a body to its end, keeping the first bytes only.
func (s *server) readBody(rc *http.ResponseController, body io.Reader, view *stream, keep int) ([]byte, error) {
	if body == http.NoBody {
		return nil, nil
	}
	b := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(b)
	var kept []byte
	var until time.Time
	for {
		// A deadline is pushed on when half of it is gone, not at every read.
		if left := time.Until(until); left < s.cfg.Idle/2 {
			until = time.Now().Add(s.cfg.Idle)
			_ = rc.SetReadDeadline(until)
		}
		n, err := body.Read(b[:])
		if view != nil {
			view.write(b[:n])
		}
		if room := keep - len(kept); room > 0 {
			kept = append(kept, b[:min(n, room)]...)
		}
		if errors.Is(err, io.EOF) {
			return kept, rc.SetReadDeadline(time.Time{})
		}
		if err != nil { // the deadline stays, for net/http reads on before it closes
			return kept, err
		}
	}
}

// hijack takes the connection over, for a WebSocket or a tunnel.
func (s *server) hijack(w http.ResponseWriter, r *http.Request, t *tap) {
	h, ok := w.(http.Hijacker)
	if !ok { // HTTP/2 has no such thing here
		http.Error(w, http.StatusText(http.StatusNotImplemented), http.StatusNotImplemented)
		return
	}
	c, rw, err := h.Hijack()
	if err != nil {
		t.w.f.fail("hijack: " + err.Error())
		return
	}
	_ = c.SetDeadline(time.Time{})
	ahead, _ := rw.Peek(rw.Reader.Buffered())
	if r.Method == http.MethodConnect {
		s.tunnel(t, r.Host, slices.Clone(ahead))
		return
	}
	s.webSocket(t, r, io.MultiReader(strings.NewReader(string(ahead)), t))
}

// tunnel goes on with what a proxy's client says to the host beyond. It is a
// flow of the same connection under the host's name.
func (s *server) tunnel(t *tap, host string, ahead []byte) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	t.w.f.learn(func(e *Event) {
		if _, err := netip.ParseAddr(name); err != nil {
			e.Host = canonical(name)
		}
		e.App = "connect"
	})
	_, err = io.WriteString(t.Conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	if err != nil {
		t.w.f.fail(err.Error())
		_ = t.Close()
		return
	}
	head := ahead
	for b := make([]byte, sniffLimit); sniff(head) == kindUnknown && len(head) < sniffLimit; {
		_ = t.SetReadDeadline(time.Now().Add(s.cfg.Header))
		n, err := t.Conn.Read(b[:sniffLimit-len(head)])
		head = append(head, b[:n]...)
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.eof.Store(true)
			}
			break
		}
	}
	if sniff(head) == kindTLS && t.Conn == net.Conn(t.w) {
		s.serveTLS(t.w, head)
		return
	}
	inner := &tap{Conn: t.Conn, w: t.w, st: t.st, pre: head}
	if k := sniff(head); k == kindHTTP || k == kindHTTP2 {
		s.handOff(inner, k)
		return
	}
	s.serveLines(inner, nil)
}
