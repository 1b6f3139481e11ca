package remote

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxRedirects bounds the redirects within the server's own origin that are followed.
const maxRedirects = 3

// The requests of the checks, as an ordinary client makes them.
const (
	helloBody = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-ai","version":"0.1.0"}}}`
	readyBody = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	toolsBody = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
)

// protocolVersion is the one that helloBody asks for.
const protocolVersion = "2025-11-25"

// posted makes the request of one message. More headers win.
func posted(body string, more http.Header) request {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for name, values := range more {
		h[name] = values
	}
	return request{method: http.MethodPost, header: h, body: []byte(body)}
}

// arrive finds out, before any credential is sent, whether the server can be spoken to: its
// certificate, and where its redirects lead. It says whether the conversation may begin.
func (v *visit) arrive(ctx context.Context) bool {
	if v.URL.Scheme == "http" && !Loopback(v.URL) {
		v.fact(session.RemoteCleartext, "", "the address is %s", v.URL)
	}
	for n := 0; ; n++ {
		a := posted(helloBody, nil)
		a.bare = true
		got, err := v.http.do(ctx, a)
		if err != nil {
			if why := badCertificate(err); why != "" {
				v.fact(session.RemoteCertificate, "", "the verification failed: %s", why)
				v.doubt(session.GapHandshakeFailed, finding.PhaseHandshake, "nothing was sent: the server's certificate is not valid")
			} else {
				v.doubt(session.GapHandshakeFailed, finding.PhaseHandshake, "the server cannot be reached: %v", err)
			}
			return false
		}
		if got.status < 300 || got.status > 399 || got.header.Get("Location") == "" {
			v.headers(got)
			v.authorization(ctx, got)
			v.release(ctx, got, true)
			v.oldTLS(ctx)
			return true
		}
		if !v.redirected(got) || n == maxRedirects {
			v.doubt(session.GapHandshakeFailed, finding.PhaseHandshake, "the server redirects: coalmine followed %d redirects within its origin", n)
			return false
		}
	}
}

// redirected takes a redirect, which is followed within the server's own origin alone.
func (v *visit) redirected(got *reply) bool {
	to, err := v.http.url.Parse(got.header.Get("Location"))
	if err != nil {
		return false
	}
	if sameOrigin(to, v.http.url) {
		to.Fragment, to.User = "", nil
		v.http.url = to
		return true
	}
	if v.http.url.Scheme == "https" && to.Scheme == "http" {
		v.fact(session.RemoteDowngrade, "", "HTTP status %d with a Location of http://%.200s", got.status, to.Host)
	}
	if !strings.EqualFold(to.Hostname(), v.http.url.Hostname()) {
		origin := v.say("%.20s://%.200s", to.Scheme, to.Host)
		v.fact(session.RemoteRedirect, origin, "HTTP status %d with a Location at %s", got.status, origin)
	}
	return false
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// headers looks at the headers of the first answer.
func (v *visit) headers(got *reply) {
	if got.tls != nil && got.header.Get("Strict-Transport-Security") == "" {
		v.fact(session.RemoteNoHSTS, "", "the header is missing in the answer to initialize (HTTP status %d)", got.status)
	}
	for _, c := range (&http.Response{Header: got.header}).Cookies() {
		if got.tls != nil && !c.Secure || !c.HttpOnly {
			v.fact(session.RemoteCookie, v.say("%.100s", c.Name), "the attributes of the cookie: Secure %t, HttpOnly %t", c.Secure, c.HttpOnly)
		}
	}
}

// oldTLS tries the versions that RFC 8996 forbids.
func (v *visit) oldTLS(ctx context.Context) {
	if v.URL.Scheme != "https" || v.RoundTripper != nil {
		return
	}
	t := transport(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}) //nolint:gosec // it is what is looked for
	defer t.CloseIdleConnections()
	old := &peer{url: v.http.url, trip: t}
	if got, err := old.do(ctx, request{method: http.MethodGet, bare: true}); err == nil && got.tls != nil {
		v.fact(session.RemoteOldTLS, "", "a handshake with %s succeeded", tls.VersionName(got.tls.Version))
	}
}

// release ends a session that a check began.
func (v *visit) release(ctx context.Context, got *reply, bare bool) (status int) {
	id := got.header.Get(headerSession)
	if id == "" {
		return 0
	}
	a := request{method: http.MethodDelete, header: inSession(id), bare: bare}
	if done, err := v.http.do(ctx, a); err == nil {
		return done.status
	}
	return 0
}

// The headers of a session.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// inSession are the headers of a message in a session.
func inSession(id string) http.Header {
	h := http.Header{headerVersion: {protocolVersion}}
	if id != "" {
		h[headerSession] = []string{id}
	}
	return h
}
