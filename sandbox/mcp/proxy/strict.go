package proxy

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// plainRequest makes a request one that the server reads as the gate does, and
// says why it cannot be, "" if it is.
func (p *Proxy) plainRequest(r *http.Request) string {
	// What follows an upgrade is a way of its own, past the gate.
	r.Header.Del("Upgrade")
	if !bearsMessage(r.Method) {
		if p.opts.Gate.Closed() {
			r.Body, r.ContentLength = http.NoBody, 0
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

// isAuthorization reports whether a request is one of the authorization that a client
// goes through before it speaks the protocol. What it holds are secrets, which no
// log is to have, and no messages. Where a server takes messages it is not.
func (p *Proxy) isAuthorization(r *http.Request) bool {
	if r.URL.Path == p.opts.Upstream.Path || p.sessions.known(endpointKey(r.URL.RequestURI())) || r.Header.Get(headerSession) != "" {
		return false
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch r.Method {
	case http.MethodGet:
		return strings.HasPrefix(r.URL.Path, "/.well-known/")
	case http.MethodPost:
		return kind == typeForm || kind == typeJSON && path.Base(r.URL.Path) == "register"
	}
	return false
}

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
	asked := bearsMessage(x.r.Method)
	stream := x.r.Method == http.MethodGet && strings.Contains(strings.Join(x.r.Header.Values("Accept"), ","), typeEvents)
	switch {
	case !asked && !stream || r.StatusCode == http.StatusAccepted || r.StatusCode == http.StatusNoContent || r.ContentLength == 0:
		return nil
	case r.StatusCode >= 300:
		return nil // a failure, whose body is no message
	case encoded(r.Header):
		return fmt.Errorf("coalmine gate: an answer that is packed cannot be read")
	case kind != typeEvents && (stream || kind != typeJSON) || len(r.Header.Values("Content-Type")) != 1:
		return fmt.Errorf("coalmine gate: an answer that is neither %s nor %s cannot be read", typeJSON, typeEvents)
	}
	r.Header.Set("Content-Type", kind)
	return nil
}

// redirect keeps a client that is sent elsewhere on the server with the proxy.
// A closed gate lets it go nowhere else.
func (p *Proxy) redirect(r *http.Response) error {
	to := r.Header.Get("Location")
	if to == "" || r.StatusCode < 300 || r.StatusCode >= 400 {
		return nil
	}
	u, err := url.Parse(to)
	switch {
	case err == nil && u.Host == "" && u.Scheme == "":
	case err == nil && u.Host == p.opts.Upstream.Host:
		r.Header.Set("Location", pathOf(u))
	case p.opts.Gate != nil && p.opts.Gate.Closed():
		return fmt.Errorf("coalmine gate: the server sends its client to another server")
	}
	return nil
}

// pathOf is an address without its origin.
func pathOf(u *url.URL) string {
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

// plainField reports whether every reader of an event takes a field for one line.
func plainField(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 })
}
