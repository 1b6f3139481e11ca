package sinkhole

import (
	"net"
	"net/http"
)

// reply answers a request in the name of the host it was sent to.
func (s *server) reply(w http.ResponseWriter, r *http.Request, f *flow, body []byte) {
	host := hostOf(r)
	p := s.cfg.pageFor(r, canonical(host), isMetadata(f.known.Dest.Addr(), host), body)
	p.write(w, r.Method == http.MethodHead)
}

// hostOf is the host that a request names, without a port.
func hostOf(r *http.Request) string {
	if h, _, err := net.SplitHostPort(r.Host); err == nil {
		return h
	}
	return r.Host
}
