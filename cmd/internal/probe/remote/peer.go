package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The bounds of one request of the checks.
const (
	requestTimeout = 15 * time.Second
	maxBody        = 1 << 20
	maxHeader      = 1 << 20
)

// peer makes the requests of the checks, each by itself.
type peer struct {
	url *url.URL
	// header has the user's credentials.
	header http.Header
	trip   http.RoundTripper
	idle   func()
}

func newPeer(s *Settings) *peer {
	p := &peer{url: s.URL, header: http.Header{}, trip: s.RoundTripper, idle: func() {}}
	for name, value := range s.Header {
		p.header.Set(name, value)
	}
	if p.trip == nil {
		t := transport(&tls.Config{MinVersion: tls.VersionTLS12})
		p.trip, p.idle = t, t.CloseIdleConnections
	}
	return p
}

// transport is as an ordinary client's, with the proxy of the environment.
func transport(c *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: c, TLSHandshakeTimeout: requestTimeout, DisableCompression: true,
		MaxResponseHeaderBytes: maxHeader, MaxIdleConnsPerHost: 4, ForceAttemptHTTP2: true,
	}
}

func (p *peer) close() { p.idle() }

// request is one request of a check.
type request struct {
	method string
	url    *url.URL
	host   string // in place of the URL's, "" for that
	header http.Header
	// bare leaves the user's credentials out.
	bare bool
	body []byte
}

// reply is what came back. Its body is bounded.
type reply struct {
	status int
	header http.Header
	tls    *tls.ConnectionState
	body   []byte
	// result is that of a JSON-RPC answer, nil for none.
	result json.RawMessage
}

func (p *peer) do(ctx context.Context, a request) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if a.url == nil {
		a.url = p.url
	}
	r, err := http.NewRequestWithContext(ctx, a.method, a.url.String(), bytes.NewReader(a.body))
	if err != nil {
		return nil, err
	}
	if !a.bare {
		for name, values := range p.header {
			r.Header[name] = values
		}
	}
	for name, values := range a.header {
		r.Header[name] = values
	}
	if a.host != "" {
		r.Host = a.host
	}
	answer, err := p.trip.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	out := &reply{status: answer.StatusCode, header: answer.Header, tls: answer.TLS}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		out.result = firstResult(answer.Body)
		return out, nil
	}
	if out.body, err = io.ReadAll(io.LimitReader(answer.Body, maxBody)); err != nil {
		return nil, err
	}
	out.result = resultOf(out.body)
	return out, nil
}

// resultOf is the result in a JSON-RPC answer, nil for none.
func resultOf(line []byte) json.RawMessage {
	messages, err := wire.Parse(line)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		if m.IsResponse() && m.Result != nil {
			return m.Result
		}
	}
	return nil
}

// firstResult reads a stream of events up to its first result.
func firstResult(r io.Reader) (result json.RawMessage) {
	split := wire.NewEventSplitter(maxBody)
	buf := make([]byte, 32<<10)
	for read := 0; read < maxBody; {
		n, err := r.Read(buf)
		read += n
		split.Feed(buf[:n], func(e wire.Event) {
			if result == nil {
				result = resultOf(e.Data)
			}
		})
		if result != nil || err != nil {
			break
		}
	}
	return result
}

// badCertificate is the reason for which a certificate was refused, "" for another error.
func badCertificate(err error) string {
	var bad *tls.CertificateVerificationError
	if errors.As(err, &bad) {
		return bad.Err.Error()
	}
	return ""
}
