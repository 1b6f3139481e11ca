package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/egress"
)

const (
	dialTime     = 15 * time.Second
	maxHeaders   = 256 << 10
	maxIdle      = 16
	idleTime     = 30 * time.Second
	lookupTime   = 5 * time.Second
	internalHint = "it leads to an address that is not public, and no registry setting names it"
)

var (
	errInternal = errors.New(internalHint)
	errBadProxy = errors.New("the setting of your proxy is not an address")
	errStalled  = errors.New("the registry sent nothing for too long")
)

// transportKey tells apart the connections that may not be shared.
type transportKey struct {
	tool        Tool
	certificate *tls.Certificate
	// guarded connections reach public addresses alone.
	guarded  bool
	insecure bool
}

// upstream speaks with registries.
type upstream struct {
	settings *Settings
	limits   Limits
	hosts    map[string]bool

	mu         sync.Mutex
	transports map[transportKey]*http.Transport
}

// answer is a registry's, after redirects were followed.
type answer struct {
	*http.Response
	// location is set where the client itself is to follow a redirect.
	location *url.URL
}

// roundTrip sends a request and follows its redirects. allowed decides which of them the
// client is to follow itself, so that it knows the address that relative links are
// relative to. A *refusal tells that a redirect leads where no request may go.
func (s *upstream) roundTrip(ctx context.Context, method string, x *access, header http.Header, body io.Reader, allowed func(*url.URL) bool) (*answer, error) {
	u, credential := x.url, x.credential
	for hop := 0; ; hop++ {
		r, err := http.NewRequestWithContext(ctx, method, "", body)
		if err != nil {
			return nil, err
		}
		r.URL, r.Host, r.Header = u, displayHost(u), header.Clone()
		if credential != nil && credential.authorization != "" {
			r.Header.Set("Authorization", credential.authorization)
		}
		t, err := s.transport(ctx, x.tool, u, credential)
		if err != nil {
			return nil, err
		}
		resp, err := t.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		next, err := redirect(resp, u)
		if next == nil && err == nil {
			return &answer{Response: resp}, nil
		}
		_ = resp.Body.Close()
		switch {
		case err != nil:
			return nil, err
		case method == http.MethodPost:
			return nil, &refusal{"the registry redirects what may not be redirected"}
		case allowed(next):
			return &answer{Response: resp, location: next}, nil
		case hop >= s.limits.Redirects:
			return nil, &refusal{fmt.Sprintf("the registry redirects more than %d times", s.limits.Redirects)}
		case next.Scheme == "http" && u.Scheme == "https" && !s.hosts[next.Host]:
			return nil, &refusal{"the registry redirects from https to http"}
		}
		if u = next; !x.credential.applies(u) {
			credential = nil
		}
	}
}

// displayHost is the host of a Host header: without the port that the scheme implies.
func displayHost(u *url.URL) string {
	host := strings.TrimPrefix(shown(&url.URL{Scheme: u.Scheme, Host: u.Host}), u.Scheme+"://")
	return host
}

// redirect is where an answer redirects to, nil for nowhere.
func redirect(resp *http.Response, from *url.URL) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return nil, nil
	}
	ref, err := url.Parse(location)
	if err == nil {
		if ref, err = canonical(from.ResolveReference(ref)); err == nil {
			return ref, nil
		}
	}
	return nil, &refusal{"the registry redirects to something other than a plain address"}
}

// transport is that of a tool for an address. A *refusal tells that it may not be reached.
func (s *upstream) transport(ctx context.Context, t Tool, u *url.URL, c *credential) (*http.Transport, error) {
	n := s.settings.networks[t]
	if n == nil {
		return nil, fmt.Errorf("no settings of %s were loaded", t)
	}
	k := transportKey{tool: t, guarded: !s.hosts[u.Host], insecure: n.unverified(u)}
	if c != nil {
		k.certificate = c.certificate
	}
	if k.guarded {
		if err := s.guard(ctx, n, u); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.transports[k]; known != nil {
		return known, nil
	}
	dial := (&net.Dialer{Timeout: dialTime}).DialContext
	if k.guarded {
		dial = n.dialPublic
	}
	made := &http.Transport{
		Proxy: n.proxyFor(), DialContext: dial, ForceAttemptHTTP2: true,
		TLSClientConfig:        &tls.Config{RootCAs: n.roots, InsecureSkipVerify: k.insecure, MinVersion: tls.VersionTLS12},
		MaxResponseHeaderBytes: maxHeaders, MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: idleTime,
		TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: s.limits.Stall,
	}
	if k.certificate != nil {
		made.TLSClientConfig.Certificates = []tls.Certificate{*k.certificate}
	}
	s.transports[k] = made
	return made, nil
}

func (s *upstream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.transports {
		t.CloseIdleConnections()
	}
}

// guard refuses an address of a host that no setting names where it can be seen to be
// internal before anything is sent. A name that is dialed directly is checked again at
// the socket (dialPublic), so that no second answer of a name server slips by; where a
// proxy of the user's resolves it, only this check is made.
func (s *upstream) guard(ctx context.Context, n *network, u *url.URL) error {
	host := u.Hostname()
	if a, err := netip.ParseAddr(host); err == nil {
		if !egress.Public(a) {
			return &refusal{internalHint}
		}
		return nil
	}
	if isLoopback(host) || n.isProxy(u.Host) {
		return &refusal{internalHint}
	}
	proxy, err := n.proxyFor()(&http.Request{URL: u})
	if err != nil || proxy == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host+".")
	if err != nil && !strings.Contains(host, ".") {
		return &refusal{internalHint}
	}
	for _, suffix := range []string{".internal", ".local", ".localdomain", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, suffix) {
			return &refusal{internalHint}
		}
	}
	for _, a := range addresses {
		if !egress.Public(a) {
			return &refusal{internalHint}
		}
	}
	return nil
}

// isProxy reports whether a host with its port is the user's own proxy.
func (n *network) isProxy(host string) bool {
	for _, p := range []string{n.httpProxy, n.httpsProxy} {
		if !strings.Contains(p, "://") {
			p = "http://" + p
		}
		if u, err := url.Parse(p); err == nil && u.Host != "" {
			port := u.Port()
			if port == "" {
				port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
				if port == "" {
					port = "80"
				}
			}
			if strings.EqualFold(net.JoinHostPort(u.Hostname(), port), host) {
				return true
			}
		}
	}
	return false
}

// dialPublic connects to public addresses, and to the user's proxy.
func (n *network) dialPublic(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTime}
	if !n.isProxy(address) {
		d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			if a, err := netip.ParseAddrPort(address); err != nil || !egress.Public(a.Addr()) {
				return errInternal
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// plain says in words why a registry could not be reached. It tells none of this
// machine's addresses: the client reads it too.
func plain(err error) string {
	var dns *net.DNSError
	var unverified *tls.CertificateVerificationError
	var alert tls.AlertError
	var timeout net.Error
	var local *cacheError
	switch {
	case errors.As(err, &local):
		return "what registries answer cannot be written to this machine's disk"
	case errors.As(err, &unverified):
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &unknown) {
			return "the registry's certificate is signed by an authority that is not trusted"
		}
		return "the registry's certificate does not hold"
	case errors.As(err, &alert):
		return "the registry ended the TLS handshake"
	case errors.Is(err, errStalled), errors.Is(err, errBadProxy), errors.Is(err, errTooLarge), errors.Is(err, errTotal):
		return err.Error()
	case errors.As(err, &dns):
		return "the registry's name does not resolve"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the registry refused the connection"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "the registry did not answer in time"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "the registry cut its answer off"
	case strings.Contains(err.Error(), "Proxy Authentication Required"):
		return "your proxy wants another user or password"
	}
	return "the registry could not be reached, or does not speak HTTP"
}

// stallReader ends a request whose answer stalls.
type stallReader struct {
	r      io.Reader
	timer  *time.Timer
	after  time.Duration
	cancel context.CancelCauseFunc
	ctx    context.Context
}

func newStallReader(ctx context.Context, r io.Reader, after time.Duration, cancel context.CancelCauseFunc) *stallReader {
	return &stallReader{r: r, after: after, ctx: ctx, cancel: cancel, timer: time.AfterFunc(after, func() { cancel(errStalled) })}
}

func (s *stallReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.timer.Reset(s.after)
	// A registry may end its answer in good order because the request is being given up:
	// that is no whole answer.
	if cause := context.Cause(s.ctx); err != nil && cause != nil {
		err = cause
	}
	return n, err
}

func (s *stallReader) stop() { s.timer.Stop() }
