package proxy

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// plainRequest makes a request one that the server reads as the gate does, and
// says why it cannot be, "" if it is.
func (p *Proxy) plainRequest(r *http.Request) string {
	// What follows an upgrade is a way of its own, past the gate.
	r.Header.Del("Upgrade")
	if !bearsMessage(r.Method) {
		if p.opts.Gate.Closed() {
			r.Body, r.ContentLength, r.TransferEncoding = http.NoBody, 0, nil
		}
		return ""
	}
	if !p.opts.Gate.Closed() {
		return ""
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != typeJSON || len(r.Header.Values("Content-Type")) != 1:
		return "a body that is no " + typeJSON + " cannot be read"
	case encoded(r.Header):
		return "a body that is packed cannot be read"
	}
	r.Header.Set("Content-Type", kind)
	return ""
}

// The media types of the transports, and of the authorization beside them.
const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
	typeForm   = "application/x-www-form-urlencoded"
)

// bearsMessage reports whether a request's body may be a message.
func bearsMessage(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodDelete:
		return false
	}
	return true
}

func encoded(h http.Header) bool {
	e := strings.Join(h.Values("Content-Encoding"), ",")
	return e != "" && !strings.EqualFold(e, "identity")
}

// plainAnswer makes an answer one that every client reads as a closed gate does,
// or refuses it: some clients look for a type anywhere in the header, and some
// take what they asked for as a stream for one.
func (x *exchange) plainAnswer(r *http.Response, kind string) error {
	switch {
	case r.ContentLength == 0 || r.StatusCode == http.StatusNoContent || r.StatusCode == http.StatusNotModified || x.r.Method == http.MethodHead:
		return nil
	case encoded(r.Header):
		return fmt.Errorf("coalmine gate: an answer that is packed cannot be read")
	case len(r.Header.Values("Content-Type")) > 1:
		return fmt.Errorf("coalmine gate: an answer of two types cannot be read")
	case kind == typeEvents || kind == typeJSON:
		r.Header.Set("Content-Type", kind)
	case x.isMessage(r) || x.wantsStream() && r.StatusCode < 300:
		return fmt.Errorf("coalmine gate: an answer that is neither %s nor %s cannot be read", typeJSON, typeEvents)
	}
	if x.wantsStream() && r.StatusCode < 300 && kind != typeEvents {
		return fmt.Errorf("coalmine gate: the gate cannot read an answer that is not %s", typeEvents)
	}
	return nil
}

// wantsStream reports whether the client asked for a stream of events.
func (x *exchange) wantsStream() bool {
	return x.r.Method == http.MethodGet && strings.Contains(strings.Join(x.r.Header.Values("Accept"), ","), typeEvents)
}

// isMessage reports whether every client takes an answer's body for a message.
func (x *exchange) isMessage(r *http.Response) bool {
	return bearsMessage(x.r.Method) && !x.authorization && r.StatusCode < 300 && r.StatusCode != http.StatusAccepted
}

// redirect keeps a client that is sent elsewhere on the server with the proxy.
// A closed gate lets it go nowhere else.
func (x *exchange) redirect(r *http.Response) error {
	to := r.Header.Get("Location")
	if to == "" || r.StatusCode < 300 || r.StatusCode >= 400 {
		return nil
	}
	closed := x.p.opts.Gate != nil && x.p.opts.Gate.Closed()
	if closed && len(r.Header.Values("Location")) > 1 {
		return fmt.Errorf("coalmine gate: the server sends its client to several places")
	}
	a, ours, err := x.p.referred(x.r.Host, x.r.RequestURI, to)
	switch {
	case err == nil && ours:
		if !x.authorization {
			x.p.paths.message(a.path) // the client goes there with its message
		}
		if x.p.opts.Gate != nil || a.origin == x.p.origin {
			r.Header.Set("Location", a.target())
		}
	case closed:
		return fmt.Errorf("coalmine gate: the server sends its client to another server")
	}
	return nil
}

// plainField reports whether every reader of an event takes a field for one line.
func plainField(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 })
}
