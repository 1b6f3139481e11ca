package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The bounds of what is learned of a server's authorization.
const (
	maxMetadata  = 1 << 20
	maxLearned   = 64
	maxEndpoints = 4096
	learnTimeout = 5 * time.Second
)

// wellKnown are the documents in which a server says where it authorizes clients
// (RFC 8414 and RFC 9728, OpenID Connect Discovery).
var wellKnown = []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource", "/.well-known/openid-configuration"}

// fallback are the paths of a server that has no such document, as the protocol's
// revision 2025-03-26 names them.
var fallback = []string{"/authorize", "/token", "/register"}

// paths are what the proxy has learned of the server's paths. Requests to those of the
// authorization bear secrets, which no log is to have, and no messages. A path on
// which the server takes messages is never one of them.
type paths struct {
	mu       sync.Mutex
	asked    bool // the server was asked for its documents
	learned  map[string]bool
	messages map[string]bool // by loosePath
}

func newPaths(upstream string) paths {
	return paths{learned: map[string]bool{}, messages: map[string]bool{loosePath(upstream): true}}
}

// message notes a path on which the server takes messages.
func (s *paths) message(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.messages) < maxEndpoints {
		s.messages[loosePath(path)] = true
	} else {
		clear(s.learned) // what cannot be remembered is not trusted
		s.asked = true
	}
}

// authorizes reports whether a path was learned as one of the authorization.
func (s *paths) authorizes(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.learned[path] && !s.messages[loosePath(path)]
}

// takesMessages reports whether some server could take a path for one of its messages'.
func (s *paths) takesMessages(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages[loosePath(path)]
}

func (s *paths) learn(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.learned) < maxLearned {
		s.learned[path] = true
	}
}

// again lets the server be asked once more.
func (s *paths) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = len(s.messages) >= maxEndpoints
}

// isWellKnown reports whether a path is that of a document of the authorization.
func isWellKnown(path string) bool {
	for _, w := range wellKnown {
		if path == w || strings.HasPrefix(path, w+"/") {
			return true
		}
	}
	return false
}

// isAuthorization reports whether a request is one of the authorization that a client
// goes through before it speaks the protocol: for a document of it, or to a path that
// such a document names, spelled in the one way that all read alike. It puts back
// what it reads of the body.
func (p *Proxy) isAuthorization(r *http.Request) bool {
	if r.Header.Get(headerSession) != "" || strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), typeEvents) {
		return false // as a client that speaks the protocol
	}
	a, err := parseAddress(p.origin, r.RequestURI)
	if err != nil || a.origin != p.origin || a.target() != r.RequestURI || p.paths.takesMessages(a.path) {
		return false
	}
	switch r.Method {
	case http.MethodGet:
		return isWellKnown(a.path) || p.paths.authorizes(a.path)
	case http.MethodPost:
		if !p.paths.authorizes(a.path) {
			p.fetchMetadata(r.Context())
		}
		return p.paths.authorizes(a.path) && !p.bearsMessageNow(r)
	}
	return false
}

// bearsMessageNow reports whether the body may be a message, whatever its path is: a
// client follows redirects with it.
func (p *Proxy) bearsMessageNow(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == typeForm {
		return false
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxMetadata+1))
	r.Body = putBack(raw, r.Body)
	return err != nil || len(raw) > maxMetadata || kind != typeJSON || mayBeMessage(raw)
}

// mayBeMessage reports whether some peer could take a body for a message, or more.
func mayBeMessage(raw []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) == 0 {
		return false
	}
	if bytes.IndexByte(raw, 0) >= 0 || bytes.Contains(bytes.ToLower(raw), []byte("jsonrpc")) {
		return true
	}
	if text[0] != '{' && text[0] != '[' {
		return false
	}
	found := wire.CheckJSON(text) != nil // who reads it reads it otherwise
	envelope := func(obj []byte) {
		wire.EachMember(obj, func(key string, value json.RawMessage) {
			switch strings.ToLower(key) {
			case "jsonrpc", "method", "params", "result":
				found = true
			case "error":
				found = found || value[0] == '{'
			}
		})
	}
	envelope(text)
	if text[0] == '[' {
		wire.WalkArray(text, func(_ int, v []byte) { envelope(v) })
	}
	return found
}

// fetchMetadata fetches the documents of the authorization once, for a client that knows what
// they say from an earlier session.
func (p *Proxy) fetchMetadata(ctx context.Context) {
	p.paths.mu.Lock()
	asked := p.paths.asked
	p.paths.asked = true
	p.paths.mu.Unlock()
	if asked {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, learnTimeout)
	defer cancel()
	for _, path := range wellKnown {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.origin+path, nil)
		if err != nil {
			return
		}
		r.Header.Set("Accept-Encoding", "identity")
		answer, err := p.opts.Transport.RoundTrip(r)
		if err != nil {
			p.paths.again()
			return // the request itself will say so
		}
		data, err := io.ReadAll(io.LimitReader(answer.Body, maxMetadata))
		_ = answer.Body.Close() // it was only read
		if err == nil {
			p.learnFrom(r.URL.Path, answer.StatusCode, data)
		}
	}
}

// learnFrom takes in the answer to a request for a document of the authorization.
func (p *Proxy) learnFrom(path string, status int, data []byte) {
	if status == http.StatusNotFound && strings.HasPrefix(path, wellKnown[0]) {
		for _, f := range fallback {
			p.paths.learn(f)
		}
	}
	if status != http.StatusOK {
		return
	}
	wire.EachMember(bytes.TrimSpace(data), func(key string, value json.RawMessage) {
		var at string
		if !strings.HasSuffix(key, "_endpoint") || json.Unmarshal(value, &at) != nil {
			return
		}
		if a, err := parseAddress("", at); err == nil && a.origin == p.origin {
			p.paths.learn(a.path)
		}
	})
}
