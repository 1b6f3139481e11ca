package sinkhole

import (
	"net"
	"net/http"
)

// reply answers a request in the name of the host it was sent to.
func (s *server) reply(w http.ResponseWriter, r *http.Request, f *flow, body []byte) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	p := s.cfg.pageFor(r, canonical(host), isMetadata(f.known.Dest.Addr(), host), body)
	p.write(w, r.Method == http.MethodHead)
}
