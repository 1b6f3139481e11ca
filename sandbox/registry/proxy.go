package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// Limits bound what a proxy does. A zero field is that of DefaultLimits.
type Limits struct {
	// Requests is the number of all requests, Concurrent of those at once, Connections
	// of clients' at once, and Redirects of those followed for one request.
	Requests, Concurrent, Connections, Redirects int
	// Metadata bounds an index page or a manifest, Artifact an archive, and Total all
	// that registries answer; in bytes.
	Metadata, Artifact, Total int64
	// Stall is how long a registry or a client may do nothing, Request how long one
	// request may take.
	Stall, Request time.Duration
	// Cache bounds the cache on the disk, in bytes.
	Cache int64
}

// DefaultLimits allow the largest packages that are in use.
var DefaultLimits = Limits{
	Requests: 50_000, Concurrent: 64, Connections: 256, Redirects: 5,
	Metadata: 128 << 20, Artifact: 2 << 30, Total: 8 << 30,
	Stall: time.Minute, Request: 15 * time.Minute,
	Cache: 4 << 30,
}

// or takes the fields that are zero from d.
func (l Limits) or(d Limits) Limits {
	for _, f := range []struct{ have, standard *int }{{&l.Requests, &d.Requests}, {&l.Concurrent, &d.Concurrent}, {&l.Connections, &d.Connections}, {&l.Redirects, &d.Redirects}} {
		if *f.have == 0 {
			*f.have = *f.standard
		}
	}
	for _, f := range []struct{ have, standard *int64 }{{&l.Metadata, &d.Metadata}, {&l.Artifact, &d.Artifact}, {&l.Total, &d.Total}, {&l.Cache, &d.Cache}} {
		if *f.have == 0 {
			*f.have = *f.standard
		}
	}
	if l.Stall == 0 {
		l.Stall = d.Stall
	}
	if l.Request == 0 {
		l.Request = d.Request
	}
	return l
}

// Options configure a Proxy.
type Options struct {
	// Tools are those whose registries are reached; those of other tools are refused.
	Tools []Tool
	// Repositories are https addresses of git repositories that may be fetched besides,
	// by Git and without a credential.
	Repositories []string
	// Cache is the directory in which archives and index pages are kept, made with mode
	// 0700; "" for none. Several processes may use one.
	Cache string
	// Offline answers from Cache alone, whatever the age of an answer. Keep also puts answers there that only
	// an offline run uses.
	Offline, Keep bool
	// Before has the pages of Python's indexes leave out the files that were uploaded later, the
	// zero Time none. An index that does not say when is an error of the request.
	Before time.Time
	// Dated is told when each file of these pages was uploaded, from many goroutines; nil for nobody.
	Dated func(file string, at time.Time)
	// Limits replace those of DefaultLimits.
	Limits Limits
}

// Proxy is an HTTP proxy to the user's registries, with an authority of its own for one
// fetch. Its methods may be used from many goroutines.
type Proxy struct {
	settings *Settings
	limits   Limits
	// offline and keep are those of Options.
	offline, keep bool
	before        time.Time
	dated         func(file string, at time.Time)
	allow         *allowList
	upstream      *upstream
	cache         *cache
	authority     *sinkhole.Authority
	issuer        *sinkhole.Issuer
	aliases       map[string]string // a host that a client is given, to the real one; both with ports
	report        *reporter

	ctx      context.Context
	cancel   context.CancelFunc
	outer    *http.Server // speaks with clients
	inner    *http.Server // speaks within their tunnels
	conns    *mux.Handoff
	tunnels  *mux.Handoff
	slots    chan struct{}
	readers  chan struct{} // pages that are read for links
	requests sync.WaitGroup
	serving  sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// NewProxy makes a proxy and its authority. Close it. Settings of one of the tools that
// cannot be understood are an *Error.
func NewProxy(s *Settings, o Options) (*Proxy, error) {
	p := &Proxy{offline: o.Offline, keep: o.Keep, before: o.Before, dated: o.Dated, settings: s, limits: o.Limits.or(DefaultLimits), report: newReporter(), open: map[net.Conn]bool{}, aliases: map[string]string{}}
	var err error
	if p.allow, err = newAllowList(s, o); err != nil {
		return nil, err
	}
	for host := range p.allow.hosts {
		if name, port, err := net.SplitHostPort(host); err == nil && isLoopback(name) {
			p.aliases[goAlias(len(p.aliases), port)] = host
		}
	}
	if p.authority, err = sinkhole.NewAuthority(); err != nil {
		return nil, err
	}
	if p.issuer, err = sinkhole.NewIssuer(p.authority); err != nil {
		return nil, err
	}
	if p.cache, err = openCache(o.Cache, p.limits.Cache); err != nil {
		return nil, err
	}
	p.upstream = &upstream{settings: s, limits: p.limits, hosts: p.allow.hosts, transports: map[transportKey]*http.Transport{}}
	p.slots, p.readers = make(chan struct{}, p.limits.Concurrent), make(chan struct{}, maxReaders)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.conns, p.tunnels = mux.NewHandoff(), mux.NewHandoff()
	p.outer, p.inner = p.server(http.HandlerFunc(p.serveProxy)), p.server(http.HandlerFunc(p.serveTunnel))
	p.inner.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn()
		}
		t, _ := c.(*tunnel)
		return context.WithValue(ctx, tunnelKey{}, t)
	}
	p.serving.Go(func() { _ = p.outer.Serve(p.conns) })
	p.serving.Go(func() { _ = p.inner.Serve(p.tunnels) })
	return p, nil
}

func newAllowList(s *Settings, o Options) (*allowList, error) {
	a := &allowList{links: newLinks()}
	for _, t := range o.Tools {
		if err := s.failed[t]; err != nil {
			return nil, err
		}
	}
	for _, r := range s.Registries {
		if slices.Contains(o.Tools, r.Tool) {
			a.registries = append(a.registries, r)
		}
	}
	for _, address := range o.Repositories {
		u, user, err := registryURL(address)
		if err != nil || user != nil || u.Scheme != "https" {
			return nil, withHint("name it as https://HOST/PATH", "the address of a repository is not git over https, which alone is fetched")
		}
		a.registries = append(a.registries, Registry{Tool: Git, URL: u, role: roleRepository})
	}
	a.hosts = map[string]bool{}
	for _, r := range a.registries {
		if r.role != roleRepository { // a repository's address may be a package's word
			a.hosts[r.URL.Host] = true
		}
	}
	return a, nil
}

func (p *Proxy) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: p.limits.Stall, IdleTimeout: 2 * p.limits.Stall,
		ErrorLog: log.New(io.Discard, "", 0), BaseContext: func(net.Listener) context.Context { return p.ctx },
	}
}

// Serve takes connections of clients until l is closed or the proxy is; then it
// returns nil. It closes l. Who reaches l reaches the user's registries with the user's
// credentials: it has to be out of reach of other users, as a socket in a private
// directory is and a port of the host's loopback is not.
func (p *Proxy) Serve(l net.Listener) error {
	stop := context.AfterFunc(p.ctx, func() { _ = l.Close() })
	defer stop()
	defer func() { _ = l.Close() }()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) || p.ctx.Err() != nil {
			if c != nil {
				_ = c.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("take connections to the registries: %w", err)
		}
		p.ServeConn(c)
	}
}

// ServeConn takes one connection of a client and returns at once; the proxy closes it.
func (p *Proxy) ServeConn(c net.Conn) {
	t := &tracked{Conn: c, proxy: p}
	p.mu.Lock()
	full := len(p.open) >= p.limits.Connections
	if !p.closed && !full {
		p.open[t] = true
	}
	closed := p.closed
	p.mu.Unlock()
	if full {
		p.report.refused("", "", "more connections at once than are allowed")
	}
	if closed || full || !p.conns.Put(t) {
		_ = t.Close()
	}
}

// Close ends all connections and requests, waits for their goroutines and trims the cache.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	open := make([]net.Conn, 0, len(p.open))
	for c := range p.open {
		open = append(open, c)
	}
	p.mu.Unlock()
	p.cancel()
	_ = p.outer.Close()
	_ = p.inner.Close()
	for _, c := range open {
		_ = c.Close()
	}
	p.serving.Wait()
	p.requests.Wait()
	p.upstream.close()
	return p.cache.close()
}

// begin takes part in what Close waits for; it is false once the proxy is closed.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.requests.Add(1)
	return true
}

// tracked is a client's connection, which Close ends whoever reads from it.
type tracked struct {
	net.Conn
	proxy *Proxy
	once  sync.Once
	err   error
}

// Close implements net.Conn.
func (t *tracked) Close() error {
	t.once.Do(func() {
		t.proxy.mu.Lock()
		delete(t.proxy.open, t)
		t.proxy.mu.Unlock()
		t.err = t.Conn.Close()
	})
	return t.err
}

// tunnel is a client's connection after CONNECT.
type tunnel struct {
	net.Conn
	r io.Reader
	// authority is the host that the client named, with its port; scheme is what it
	// speaks within.
	authority, scheme string
}

type tunnelKey struct{}

// Read implements net.Conn: what came along with CONNECT comes first.
func (t *tunnel) Read(b []byte) (int, error) { return t.r.Read(b) }

// serveProxy answers a client's requests: CONNECT and those in absolute form.
func (p *Proxy) serveProxy(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		panic(http.ErrAbortHandler)
	}
	defer p.requests.Done()
	switch {
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.IsAbs():
		p.serve(w, r, r.URL)
	default:
		p.report.refused("", r.URL.EscapedPath(), "the request names no host")
		refuse(w, http.StatusBadRequest, "this is a proxy: the request names no host")
	}
}

// connect opens a tunnel, in which serveTunnel answers in place of the host.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	authority, err := canonical(&url.URL{Scheme: "https", Host: r.Host})
	if err != nil || r.URL.Path != "" || r.URL.User != nil {
		p.report.refused(r.Host, "", "CONNECT names no plain host")
		refuse(w, http.StatusBadRequest, "CONNECT names no plain host")
		return
	}
	if !p.allow.knowsHost(p.real(authority.Host)) {
		reason := "the host is not one of your registries, and no registry linked to it"
		p.report.refused(authority.Host, "", reason)
		refuse(w, http.StatusForbidden, reason)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	// A peek tells TLS from HTTP: some clients open tunnels for both.
	_ = conn.SetDeadline(time.Now().Add(p.limits.Stall))
	_, err = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	var first []byte
	if err == nil {
		first, err = buffered.Peek(1)
	}
	if err != nil {
		_ = conn.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	t := &tunnel{Conn: conn, r: buffered, authority: authority.Host, scheme: "http"}
	var inner net.Conn = t
	if first[0] == 0x16 { // a TLS handshake: RFC 8446, section 5.1
		t.scheme = "https"
		inner = tls.Server(t, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return p.issuer.Certificate(authority.Hostname())
		}})
	}
	if !p.tunnels.Put(inner) {
		_ = conn.Close()
	}
}

// serveTunnel answers a request within a tunnel. It has to name the tunnel's host.
func (p *Proxy) serveTunnel(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		panic(http.ErrAbortHandler)
	}
	defer p.requests.Done()
	t, _ := r.Context().Value(tunnelKey{}).(*tunnel)
	if t == nil || r.Method == http.MethodConnect || r.URL.IsAbs() {
		refuse(w, http.StatusBadRequest, "a request in a tunnel names a path alone")
		return
	}
	target := *r.URL
	target.Scheme, target.Host = t.scheme, t.authority
	named, err := canonical(&url.URL{Scheme: t.scheme, Host: r.Host})
	if err != nil || named.Host != t.authority {
		p.report.refused(t.authority, "", "a request in the tunnel names another host")
		refuse(w, http.StatusMisdirectedRequest, "the request names another host than the tunnel")
		return
	}
	p.serve(w, r, &target)
}

// real is the host that an alias stands for, or the host itself.
func (p *Proxy) real(host string) string {
	if r, ok := p.aliases[host]; ok {
		return r
	}
	return host
}

// refuse answers a request that is not forwarded.
func refuse(w http.ResponseWriter, status int, reason string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusBadRequest || status == http.StatusMisdirectedRequest {
		h.Set("Connection", "close")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, strings.TrimSpace(reason)+"\n")
}
