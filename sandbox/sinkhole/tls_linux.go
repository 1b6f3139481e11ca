package sinkhole

import (
	"crypto/tls"
	"errors"
	"os"
	"slices"
	"time"
)

// serveTLS answers a ClientHello with a certificate for the name it asks for.
func (s *server) serveTLS(w *wireConn, head []byte) {
	w.f.learn(func(e *Event) { e.TLS, e.App = true, "tls" })
	if !s.occupy(w) {
		w.opaque("the handshake was not answered")
		_ = w.Close()
		return
	}
	w.prefix = head
	_ = w.SetDeadline(time.Now().Add(s.cfg.Header))
	conn := tls.Server(w, s.tlsConfig(w))
	if err := conn.HandshakeContext(s.ctx); err != nil {
		w.opaque("TLS handshake: " + err.Error())
		_ = w.Close()
		return
	}
	_ = w.SetDeadline(time.Time{})
	t := &tap{Conn: conn, w: w, st: w.f.wireStream(), shaken: now()}
	alpn := conn.ConnectionState().NegotiatedProtocol
	w.f.learn(func(e *Event) { e.ALPN = alpn })
	switch {
	case alpn == "h2":
		s.handOff(t, kindHTTP2)
	case alpn == "dot" || w.f.known.Dest.Port() == 853:
		s.serveDNS(t, "dot")
	default:
		s.serveInside(t)
	}
}

// serveInside finds out what is spoken inside TLS.
func (s *server) serveInside(t *tap) {
	port := t.w.f.known.Dest.Port()
	k := kindUnknown
	for b := make([]byte, sniffLimit); k == kindUnknown; {
		wait := s.cfg.Idle
		if len(t.pre) > 0 {
			wait = partWait
		} else if lineProtocolOf(port) != nil {
			wait = greetingWait(port)
		}
		_ = t.SetReadDeadline(time.Now().Add(wait))
		n, err := t.Conn.Read(b[:sniffLimit-len(t.pre)])
		t.pre = append(t.pre, b[:n]...)
		if n > 0 {
			k = sniff(t.pre)
		}
		if err != nil && k == kindUnknown {
			k = kindRaw
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.eof.Store(true)
				t.left(err)
			}
			if len(t.pre) == 0 && (lineProtocolOf(port) == nil || t.eof.Load()) {
				_ = t.Conn.Close()
				return
			}
		}
	}
	_ = t.SetReadDeadline(time.Time{})
	if k == kindHTTP || k == kindHTTP2 {
		s.handOff(t, k)
		return
	}
	if k == kindTLS {
		t.w.f.learn(func(e *Event) { e.Opaque = true }) // TLS inside TLS is not opened
	}
	s.serveLines(t, lineProtocolOf(port))
}

func (s *server) tlsConfig(w *wireConn) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS10, // whatever a client accepts is better opened than opaque
		SessionTicketsDisabled: true,
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			w.f.learn(func(e *Event) { e.SNI = h.ServerName })
			w.f.report(Event{Type: TypeTLS})
			c := &tls.Config{MinVersion: tls.VersionTLS10, SessionTicketsDisabled: true, GetCertificate: s.certificate(w)}
			for _, p := range []string{"h2", "http/1.1"} {
				if slices.Contains(h.SupportedProtos, p) {
					c.NextProtos = append(c.NextProtos, p)
				}
			}
			if len(c.NextProtos) == 0 && len(h.SupportedProtos) > 0 {
				c.NextProtos = h.SupportedProtos[:1]
			}
			return c, nil
		},
		GetCertificate: s.certificate(w),
	}
}

// certificate is for the name of the hello, else for the name that was
// resolved, else for the address.
func (s *server) certificate(w *wireConn) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		name := h.ServerName
		if name == "" {
			name = w.f.known.Host
		}
		if name == "" {
			name = w.f.known.Dest.Addr().String()
		}
		return s.issuer.Certificate(name)
	}
}
