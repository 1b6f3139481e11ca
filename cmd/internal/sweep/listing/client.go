package listing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of a conversation with a registry.
const (
	maxPage     = 16 << 20 // bytes
	maxTries    = 6
	maxWait     = 2 * time.Minute
	requestTime = time.Minute
)

// client asks one registry, politely: one request at a time, with pauses, and again after a
// while where the registry says so.
type client struct {
	http *http.Client
	// pause is the least time between two requests.
	pause time.Duration
	last  time.Time
	// cache has pages of earlier lists, nil for none.
	cache *cache
	// wait sleeps, or ends with the context; tests replace it.
	wait func(ctx context.Context, d time.Duration) error
}

// errRefused is for what no retry mends.
var errRefused = errors.New("refused")

// newClient is a client for the host that the user named. What that host redirects to may
// lie on other hosts, but not inside a private network that the user did not name.
func newClient(base *url.URL, pause time.Duration) *client {
	c := &client{pause: pause, wait: sleep}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dialer := &net.Dialer{Timeout: 20 * time.Second}
	guarded := &net.Dialer{Timeout: 20 * time.Second, Control: func(_, address string, _ syscall.RawConn) error { return outside(address) }}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if sameHost(address, base) || viaProxy(base, address) {
			return dialer.DialContext(ctx, network, address)
		}
		return guarded.DialContext(ctx, network, address)
	}
	c.http = &http.Client{Transport: transport, Timeout: requestTime, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) > 5:
			return fmt.Errorf("%w: more than five redirects", errRefused)
		case r.URL.Scheme != "https" && r.URL.Scheme != base.Scheme:
			return fmt.Errorf("%w: a redirect from %s to %s", errRefused, base.Scheme, r.URL.Scheme)
		case r.URL.Host == base.Host:
			return nil
		}
		return insideName(r.URL.Hostname())
	}}
	return c
}

func sameHost(address string, u *url.URL) bool {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return address == net.JoinHostPort(u.Hostname(), port)
}

// viaProxy reports whether an address is that of the user's own proxy.
func viaProxy(base *url.URL, address string) bool {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: base})
	return err == nil && proxy != nil && sameHost(address, proxy)
}

// insideName refuses a host that is an inside address by its name.
func insideName(host string) error {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".local") {
		return fmt.Errorf("%w: a redirect to the inside host %s", errRefused, host)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return outside(netip.AddrPortFrom(ip, 1).String())
	}
	return nil
}

// outside refuses addresses of this machine and of private networks.
func outside(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: no address", errRefused)
	}
	ip := at.Addr().Unmap()
	shared := netip.MustParsePrefix("100.64.0.0/10")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip) {
		return fmt.Errorf("%w: a redirect to the inside address %s", errRefused, ip)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// get fetches one page. It tries again what may pass: a lost connection, 429 and 5xx.
func (c *client) get(ctx context.Context, address string) ([]byte, error) {
	var last error
	for try := range maxTries {
		if d := c.pause - time.Since(c.last); d > 0 {
			if err := c.wait(ctx, d); err != nil {
				return nil, err
			}
		}
		data, after, err := c.once(ctx, address)
		c.last = time.Now()
		if err == nil {
			return data, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		last = err
		if after < 0 || errors.Is(err, errRefused) {
			return nil, err
		}
		if try == maxTries-1 {
			break
		}
		if after == 0 {
			after = time.Second << try
		}
		if err := c.wait(ctx, min(after, maxWait)); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w, %d times", last, maxTries)
}

// once asks once. after is how long to wait before the next try: 0 for a time of one's
// own, less than 0 for never.
func (c *client) once(ctx context.Context, address string) (data []byte, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, -1, errors.New("the registry's address is invalid")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "coalmine-sweep")
	kept := c.cache.page(address)
	kept.ask(req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		if errors.Is(err, errRefused) {
			return nil, -1, err
		}
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may hold a password
		}
		return nil, 0, fmt.Errorf("ask %s: %w", req.URL.Host, err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	if kept != nil && res.StatusCode == http.StatusNotModified {
		return kept.Body, 0, nil
	}
	if res.StatusCode != http.StatusOK {
		err := fmt.Errorf("%s answers with status %d", req.URL.Host, res.StatusCode)
		switch {
		case res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable:
			return nil, retryAfter(res.Header.Get("Retry-After")), err
		case res.StatusCode >= 500:
			return nil, 0, err
		}
		return nil, -1, err
	}
	data, err = io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("read from %s: %w", req.URL.Host, err)
	case len(data) > maxPage:
		return nil, -1, fmt.Errorf("%w: a page of more than %d bytes", errRefused, maxPage)
	}
	c.cache.keep(address, res.Header, data)
	return data, 0, nil
}

// retryAfter reads the header, in seconds or as a date; 0 where it says nothing.
func retryAfter(text string) time.Duration {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n > 0 && n < 1<<30 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
