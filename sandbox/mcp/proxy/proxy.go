package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/tap"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Options say what is proxied.
type Options struct {
	// Upstream is the server's URL; what a client asks for goes to its origin.
	Upstream *url.URL
	// Origins are the web origins that may use the proxy beside this machine's
	// own, such as "https://app.example".
	Origins []string
	// Hosts are the names, without a port, under which the proxy may be spoken
	// to beside this machine's loopback names.
	Hosts []string
	// Open returns a log for a session; called again for each session.
	Open func(what string) *session.WireLog
	// Shut is given each log when its session is over.
	Shut func(log *session.WireLog)
	// Scope are headers, such as a tenant's, by whose values and by its credentials a request
	// without a session id belongs to a session. Without any, all such requests are one session.
	Scope []string
	// Named has Gate block the calls of a request that carries neither a session's id nor
	// credentials nor a header of Scope. Otherwise all such requests share one contract.
	Named bool
	// Sessions is how many sessions are kept apart at a time, DefaultSessions if it is not
	// positive. One more ends the one that was used longest ago.
	Sessions int
	// Gate judges what crosses. Nil lets everything pass untouched.
	Gate *gate.Gate
	// Transport reaches the server, an ordinary one if it is nil.
	Transport http.RoundTripper
}

// Proxy is a handler that passes on everything and records the messages.
// Close it when the server that serves it has been shut down.
type Proxy struct {
	opts     Options
	journal  *tap.Journal
	sessions *sessionTable
	reverse  *httputil.ReverseProxy
	// origin is the server's, and paths is what was learned of it.
	origin string
	paths  paths
}

// New returns a Proxy.
func New(opts Options) (*Proxy, error) {
	if opts.Sessions <= 0 {
		opts.Sessions = DefaultSessions
	}
	if s := opts.Upstream.Scheme; s != "http" && s != "https" || opts.Upstream.Host == "" {
		return nil, fmt.Errorf("%q is not an http or https URL", opts.Upstream.Redacted())
	}
	if opts.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DisableCompression = true
		t.ResponseHeaderTimeout = 0
		t.MaxIdleConnsPerHost = 64
		opts.Transport = t
	}
	upstream, err := parseAddress("", opts.Upstream.String())
	if err != nil {
		return nil, fmt.Errorf("%q: %w", opts.Upstream.Redacted(), err)
	}
	p := &Proxy{opts: opts, journal: tap.NewJournal(), origin: upstream.origin, paths: newPaths(upstream.path)}
	p.sessions = newSessionTable(opts, p.journal)
	p.reverse = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		Transport:      opts.Transport,
		FlushInterval:  -1,
		ModifyResponse: p.response,
		ErrorHandler:   p.failed,
	}
	return p, nil
}

// Close writes what is to be written and closes the logs.
func (p *Proxy) Close() {
	p.sessions.closeAll()
	p.journal.Close()
}

// Loopback reports whether an address to listen on is this machine's alone.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && local(host)
}

// local reports whether a name is this machine's loopback.
func local(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// refuse says why a request is not this machine's own, "" if it is: a page of
// another site can make a browser send requests here under a name of its own.
func (p *Proxy) refuse(r *http.Request) string {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !local(host) && !slices.Contains(p.opts.Hosts, host) {
		return "this proxy is not spoken to under that name"
	}
	origin := r.Header.Get("Origin")
	if origin == "" && strings.EqualFold(r.Header.Get("Sec-Fetch-Site"), "cross-site") {
		return "requests of other sites are not passed on" // a page's image or link has no origin
	}
	if origin == "" || slices.Contains(p.opts.Origins, origin) {
		return ""
	}
	u, err := url.Parse(origin)
	if err != nil || !local(u.Hostname()) {
		return "requests of that origin are not passed on"
	}
	return ""
}

// exchangeKey is the context's key of a request's exchange.
type exchangeKey struct{}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := p.refuse(r); why != "" {
		http.Error(w, "coalmine: "+why, http.StatusForbidden)
		return
	}
	x := &exchange{p: p, r: r, began: time.Now(), authorization: p.isAuthorization(r)}
	defer x.end()
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	if r.ContentLength > 0 {
		r.Body = upTo(r.ContentLength, r.Body)
	}
	if x.authorization {
		p.reverse.ServeHTTP(w, r)
		return
	}
	if p.opts.Gate != nil {
		if why := p.plainRequest(r); why != "" {
			http.Error(w, "coalmine gate: "+why, http.StatusUnsupportedMediaType)
			return
		}
	}
	if (bearsMessage(r.Method) || r.ContentLength != 0) && !x.question(w, r) {
		return
	}
	p.reverse.ServeHTTP(w, r)
}

// rewrite makes the request that the server gets: the client's, to the server's origin.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme = p.opts.Upstream.Scheme
	r.Out.URL.Host = p.opts.Upstream.Host
	r.Out.Host = p.opts.Upstream.Host
	// What is compressed could be passed on, but neither read nor judged.
	r.Out.Header.Set("Accept-Encoding", "identity")
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[h]; ok {
			r.Out.Header[h] = v
		}
	}
}

func (p *Proxy) response(r *http.Response) error {
	x := r.Request.Context().Value(exchangeKey{}).(*exchange)
	return x.answer(r)
}

// failed answers for a server that cannot be reached.
func (p *Proxy) failed(w http.ResponseWriter, _ *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		return // the client has left
	}
	http.Error(w, "coalmine: the server cannot be reached: "+err.Error(), http.StatusBadGateway)
}
