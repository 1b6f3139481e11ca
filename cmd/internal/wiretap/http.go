package wiretap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/proxy"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// HTTPOptions say what is proxied.
type HTTPOptions struct {
	// URL is the server's.
	URL string
	// Listen is the address, 127.0.0.1 with a free port if it is empty.
	Listen string
	// Anywhere allows an address that is not this machine's alone.
	Anywhere bool
	// Origins are the web origins allowed beside this machine's own.
	Origins []string
	// Scope are headers by whose values requests without a session id are kept apart.
	Scope []string
	// Named has Gate block calls that name neither a session nor a caller.
	Named bool
	// Sessions is how many sessions are kept apart at a time, 0 for the usual number.
	Sessions int
	// Gate is nil for a tap.
	Gate *gate.Gate
	// Ready is told the URL that a client is to use.
	Ready func(local string)
}

// UsageError says what is wrong with HTTPOptions.
type UsageError struct{ What, Hint string }

// Error implements error.
func (e *UsageError) Error() string { return e.What }

// HTTP serves a proxy until ctx is done.
func HTTP(ctx context.Context, h HTTPOptions, o LogOptions) error {
	upstream, err := url.Parse(h.URL)
	if err != nil || upstream.Host == "" || upstream.Scheme != "http" && upstream.Scheme != "https" {
		return &UsageError{What: fmt.Sprintf("--url %q is not an http or https URL", h.URL), Hint: "name the server's, such as --url http://127.0.0.1:3001/mcp"}
	}
	if h.Listen == "" {
		h.Listen = "127.0.0.1:0"
	}
	if _, _, err := net.SplitHostPort(h.Listen); err != nil {
		return &UsageError{What: fmt.Sprintf("--listen %q is not an address", h.Listen), Hint: "name a host and a port, such as 127.0.0.1:8080"}
	}
	if !proxy.Loopback(h.Listen) && !h.Anywhere {
		return &UsageError{What: "--listen " + h.Listen + " can be reached from other machines", Hint: "listen on 127.0.0.1, or say --listen-anywhere"}
	}
	var hosts []string
	if host, _, err := net.SplitHostPort(h.Listen); err == nil && h.Anywhere {
		hosts = append(hosts, host)
	}
	p, err := proxy.New(proxy.Options{
		Upstream: upstream, Origins: h.Origins, Hosts: hosts, Gate: h.Gate, Scope: h.Scope, Named: h.Named, Sessions: h.Sessions,
		Open: o.open,
		Shut: func(log *session.WireLog) { o.shut(log, 0) },
	})
	if err != nil {
		return &UsageError{What: err.Error(), Hint: "name a server's URL with --url"}
	}
	defer p.Close()
	listener, err := net.Listen("tcp", h.Listen)
	if err != nil {
		return &UsageError{What: err.Error(), Hint: "choose another address with --listen"}
	}
	local := *upstream
	local.Scheme, local.Host, local.User = "http", listener.Addr().String(), nil
	h.Ready(local.String())
	// A stream of events has no end of its own: what is open is closed with us.
	base, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: p, ReadHeaderTimeout: 30 * time.Second, BaseContext: func(net.Listener) context.Context { return base }}
	defer cancel()
	down := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(down)
		cancel()
		wait, done := context.WithTimeout(context.Background(), linger)
		defer done()
		if server.Shutdown(wait) != nil {
			_ = server.Close() // its connections are given up
		}
	})
	err = server.Serve(listener)
	if !stop() {
		<-down // exchanges under way are recorded before the logs are closed
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
