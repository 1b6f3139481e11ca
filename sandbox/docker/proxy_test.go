//go:build linux && e2e

package docker

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/client"
)

// proxy stands between the code under test and the engine, which cannot itself be
// made to fail: other tests use it.
type proxy struct {
	server *http.Server
	path   string

	mu    sync.Mutex
	conns map[net.Conn]bool
	// hook sees each request first; true means that it has answered it itself.
	hook func(w http.ResponseWriter, step string) bool
	// drop is the step whose answer is lost after the engine has done it.
	drop string
}

// steps of a start, as the proxy tells them.
const (
	stepInspect = "inspect the image"
	stepCreate  = "create"
	stepCopy    = "copy"
	stepAttach  = "attach"
	stepWait    = "wait"
	stepStart   = "start"
	stepRemove  = "remove"
	stepOther   = "other"
)

func stepOf(r *http.Request) string {
	p := r.URL.Path
	switch {
	case strings.Contains(p, "/images/"):
		return stepInspect
	case strings.HasSuffix(p, "/containers/create"):
		return stepCreate
	case strings.HasSuffix(p, "/archive") && r.Method == http.MethodPut:
		return stepCopy
	case strings.HasSuffix(p, "/attach"):
		return stepAttach
	case strings.HasSuffix(p, "/wait"):
		return stepWait
	case strings.HasSuffix(p, "/start"):
		return stepStart
	case r.Method == http.MethodDelete:
		return stepRemove
	}
	return stepOther
}

// newProxy starts one and points DOCKER_HOST at it.
func newProxy(t testing.TB) *proxy {
	t.Helper()
	real, err := client.New(client.FromEnv)
	if err != nil {
		t.Fatal(err)
	}
	socket, ok := strings.CutPrefix(real.DaemonHost(), "unix://")
	if !ok {
		t.Skip("the engine is not at a unix socket")
	}
	p := &proxy{path: filepath.Join(t.TempDir(), "e.sock"), conns: map[net.Conn]bool{}}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}},
		FlushInterval: -1,
		ModifyResponse: func(r *http.Response) error {
			if stepOf(r.Request) == p.drop {
				return errors.New("the answer is lost")
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	p.server = &http.Server{ErrorLog: log.New(io.Discard, "", 0)}
	p.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		hook := p.hook
		p.mu.Unlock()
		if hook != nil && hook(w, stepOf(r)) {
			return
		}
		forward.ServeHTTP(w, r)
	})
	p.server.ConnState = func(c net.Conn, s http.ConnState) {
		p.mu.Lock()
		defer p.mu.Unlock()
		// Hijacked ones are ours to close.
		p.conns[c] = s != http.StateClosed
	}
	p.listen(t)
	t.Cleanup(func() { p.die() })
	t.Setenv(client.EnvOverrideHost, "unix://"+p.path)
	return p
}

func (p *proxy) listen(t testing.TB) {
	t.Helper()
	l, err := net.Listen("unix", p.path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.server.Serve(l) }()
}

// intercept sets the hook.
func (p *proxy) intercept(hook func(w http.ResponseWriter, step string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

// die cuts every connection and answers none, as an engine that was killed.
func (p *proxy) die() {
	_ = p.server.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// revive lets the engine answer again.
func (p *proxy) revive(t testing.TB) {
	t.Helper()
	old := p.server
	p.server = &http.Server{Handler: old.Handler, ErrorLog: old.ErrorLog, ConnState: old.ConnState}
	p.listen(t)
}
