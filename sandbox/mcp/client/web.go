package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The headers of Streamable HTTP.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// The bounds of a Web.
const (
	notifyTimeout = 10 * time.Second
	maxStreams    = 16
	maxResumes    = 3
	maxWebHeader  = 1 << 20
)

// Paths at which a server may be, in the order in which they are tried.
var (
	httpPaths = []string{"/mcp", "/", "/mcp/", "/api/mcp"}
	ssePaths  = []string{"/sse", "/", "/mcp", "/sse/"}
)

// Web carries a Client's lines to a server on HTTP: Streamable HTTP, with a
// session or without, or the older HTTP with a stream of events. Redirections
// are not followed, and nothing is looked up: every connection is Dial's.
type Web struct {
	opts   WebOptions
	http   *http.Client
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	slots  chan struct{}

	mu       sync.Mutex
	endpoint string // path and query, "" before it is known
	session  string
	version  string
	found    chan struct{} // closed when an older server has named its endpoint
	stream   bool          // the older transport's stream, or the newer's, was asked for
	bound    map[string][]bound
}

// WebOptions say where a server is and who hears it.
type WebOptions struct {
	// Dial connects to the server.
	Dial func(ctx context.Context) (net.Conn, error)
	// URL is the server's address, nil where its path is to be found behind Dial.
	URL *url.URL
	// Port is that of such a server on the loopback address, as its Host header names it: servers that check Host
	// refuse one without it. It may wait for the server to listen. nil is for none.
	Port func(ctx context.Context) (int, error)
	// Header is sent with each request.
	Header http.Header
	// RoundTripper makes the requests in place of Dial, nil for Dial.
	RoundTripper http.RoundTripper
	// Older speaks the transport of 2024-11-05: a stream of events, and posts.
	Older bool
	// Receive gets each message of the server's, from several goroutines.
	Receive func(line []byte)
	// Ended is told that an older server's stream has ended, which is the session's end.
	Ended func(err error)
	// MaxLine bounds a message in bytes, wire.MaxLine if not positive.
	MaxLine int
}

// NewWeb returns a Web. Close ends it.
func NewWeb(o WebOptions) *Web {
	if o.MaxLine <= 0 {
		o.MaxLine = wire.MaxLine
	}
	w := &Web{opts: o, slots: make(chan struct{}, maxStreams), found: make(chan struct{}), bound: map[string][]bound{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	if o.RoundTripper == nil {
		o.RoundTripper = &http.Transport{
			DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx) },
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxWebHeader,
			MaxIdleConnsPerHost:    4,
		}
	}
	w.http = &http.Client{
		Transport:     o.RoundTripper,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return w
}

// origin is what stands before the path of a request's address.
func (w *Web) origin(ctx context.Context) (string, error) {
	if u := w.opts.URL; u != nil {
		return u.Scheme + "://" + u.Host, nil
	}
	if w.opts.Port == nil {
		return "http://localhost", nil
	}
	port, err := w.opts.Port(ctx)
	return fmt.Sprintf("http://localhost:%d", port), err
}

// paths are those to be tried: the URL's own, or the usual ones.
func (w *Web) paths(usual []string) []string {
	if u := w.opts.URL; u != nil {
		return []string{u.RequestURI()}
	}
	return usual
}

// Close ends what is under way and waits for it.
func (w *Web) Close() {
	w.cancel()
	w.wg.Wait()
	w.http.CloseIdleConnections()
}

// Send posts one message. A request's answer comes through Receive; where the
// server's HTTP gives none, an error does in its place.
func (w *Web) Send(line []byte) error {
	messages, err := wire.Parse(line)
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("post a message: %w", err)
	}
	m := messages[0]
	if w.opts.Older {
		if err := w.awaitEndpoint(); err != nil {
			return err
		}
	}
	if !m.IsRequest() {
		ctx, cancel := context.WithTimeout(w.ctx, notifyTimeout)
		defer cancel()
		err := w.post(ctx, line, m)
		if m.Method == methodInitialized {
			w.listen()
		}
		return err
	}
	select {
	case w.slots <- struct{}{}:
	case <-w.ctx.Done():
		return ErrClosed
	}
	w.wg.Go(func() {
		defer func() { <-w.slots }()
		if err := w.post(w.ctx, line, m); err != nil && w.ctx.Err() == nil {
			w.fail(m, -32000, err.Error())
		}
	})
	return nil
}

// fail answers a request in the server's place.
func (w *Web) fail(m wire.Message, code int64, text string) {
	if !m.IsRequest() {
		return
	}
	line, err := encode(message{Version: "2.0", ID: m.ID, Error: &replyError{Code: code, Message: text}})
	if err == nil {
		w.opts.Receive(line)
	}
}

// request makes an HTTP request with the headers that a message needs.
func (w *Web) request(ctx context.Context, method, path string, body []byte, m wire.Message) (*http.Request, error) {
	origin, err := w.origin(ctx)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, origin+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	session, version := w.session, w.version
	w.mu.Unlock()
	maps.Copy(r.Header, w.opts.Header)
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		r.Header.Set("Accept", "text/event-stream")
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	if session != "" {
		r.Header.Set(headerSession, session)
	}
	if now := metaVersion(m.Params); now != "" {
		// The newer era says in headers what the message says.
		version = now
		r.Header.Set(headerMethod, m.Method)
		if name := nameOf(m); name != "" {
			r.Header.Set(headerName, name)
		}
		if m.Method == "tools/call" {
			w.params(r.Header, m)
		}
	}
	if version != "" {
		r.Header.Set(headerVersion, version)
	}
	return r, nil
}

// metaVersion is the version that a request of the newer era names.
func metaVersion(params json.RawMessage) string {
	members, _ := object(params)
	meta, _ := object(members["_meta"])
	return text(meta["io.modelcontextprotocol/protocolVersion"])
}

// nameOf is what a request is about, for its header.
func nameOf(m wire.Message) string {
	members, _ := object(m.Params)
	switch m.Method {
	case "tools/call", "prompts/get":
		return text(members["name"])
	case "resources/read":
		return text(members["uri"])
	}
	return ""
}

// post sends a message to the endpoint, which the first one finds.
func (w *Web) post(ctx context.Context, line []byte, m wire.Message) error {
	w.mu.Lock()
	paths := w.paths(httpPaths)
	if w.endpoint != "" {
		paths = []string{w.endpoint}
	}
	w.mu.Unlock()
	for i, path := range paths {
		r, err := w.request(ctx, http.MethodPost, path, line, m)
		if err != nil {
			return err
		}
		answer, err := w.http.Do(r)
		if err != nil {
			return err
		}
		missing := answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusMethodNotAllowed
		if missing && i < len(paths)-1 {
			drain(answer)
			continue
		}
		w.mu.Lock()
		if w.endpoint == "" && !missing {
			w.endpoint = path
		}
		w.mu.Unlock()
		return w.take(ctx, answer, m)
	}
	return nil
}

// Endpoint is the path and query that messages are posted to, "" before it is known.
func (w *Web) Endpoint() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.endpoint
}

// drain lets a connection be used again.
func drain(r *http.Response) {
	_, _ = io.CopyN(io.Discard, r.Body, 64<<10) // what is longer ends the connection
	r.Body.Close()
}

// take reads the answer to a post.
func (w *Web) take(ctx context.Context, r *http.Response, m wire.Message) error {
	defer drain(r)
	w.learn(r, m)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream" && r.StatusCode == http.StatusOK:
		return w.events(ctx, r, m)
	case r.StatusCode == http.StatusAccepted || r.StatusCode == http.StatusNoContent:
		if m.IsRequest() && !w.opts.Older {
			return fmt.Errorf("HTTP status %d for a request", r.StatusCode)
		}
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(w.opts.MaxLine)+1))
	if err != nil {
		return err
	}
	if len(body) > w.opts.MaxLine {
		return fmt.Errorf("a body of more than %d bytes", w.opts.MaxLine)
	}
	if messages, _ := wire.Parse(body); answers(messages, m) {
		w.hear(body, messages, m)
		return nil
	}
	if r.StatusCode == http.StatusOK && len(bytes.TrimSpace(body)) > 0 {
		// What it is, the log and the client's notices say.
		w.opts.Receive(body)
	}
	if !m.IsRequest() || w.opts.Older && r.StatusCode < 300 {
		return nil
	}
	if m.Method == methodDiscover && r.StatusCode >= 400 && r.StatusCode < 500 {
		w.fail(m, codeMethodNotFound, fmt.Sprintf("HTTP status %d", r.StatusCode))
		return nil
	}
	return fmt.Errorf("HTTP status %d without an answer", r.StatusCode)
}

// answers reports whether the answer to a request is among messages.
func answers(messages []wire.Message, m wire.Message) bool {
	for _, a := range messages {
		if a.IsResponse() && string(a.ID) == string(m.ID) {
			return true
		}
	}
	return false
}

// hear passes on a line, whose messages these are, and learns from the answers to
// initialize and tools/list.
func (w *Web) hear(line []byte, messages []wire.Message, m wire.Message) {
	if len(messages) == 1 && messages[0].Result != nil {
		switch m.Method {
		case wire.Tools.Method():
			w.bind(messages[0].Result)
		case methodInitialize:
			if in, ok := wire.ReadIntroduction(messages[0].Result); ok && len(in.Protocol) <= maxVersion {
				w.mu.Lock()
				w.version = in.Protocol
				w.mu.Unlock()
			}
		}
	}
	w.opts.Receive(line)
}

// located takes the address that an older server names.
func (w *Web) located(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.endpoint == "" {
		w.endpoint = (&url.URL{Path: "/"}).ResolveReference(&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).RequestURI()
		close(w.found)
	}
}

// awaitEndpoint opens an older server's stream and waits for its address.
func (w *Web) awaitEndpoint() error {
	w.mu.Lock()
	first := !w.stream
	w.stream = true
	w.mu.Unlock()
	if first {
		w.wg.Go(func() { w.opts.Ended(w.older()) })
	}
	timeout := time.NewTimer(DefaultHandshakeTimeout)
	defer timeout.Stop()
	select {
	case <-w.found:
		return nil
	case <-w.ctx.Done():
		return ErrClosed
	case <-timeout.C:
		return fmt.Errorf("the server names no endpoint: %w", ErrTimeout)
	}
}

// older reads an older server's stream until it ends.
func (w *Web) older() error {
	paths := w.paths(ssePaths)
	for _, path := range paths {
		r, err := w.request(w.ctx, http.MethodGet, path, nil, wire.Message{})
		if err != nil {
			return err
		}
		answer, err := w.http.Do(r)
		if err != nil {
			return err
		}
		kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
		if answer.StatusCode != http.StatusOK || kind != "text/event-stream" {
			drain(answer)
			continue
		}
		defer answer.Body.Close()
		_, _, _, err = w.read(answer, wire.Message{})
		return err
	}
	return fmt.Errorf("no stream of events at any of %q", paths)
}

// listen asks for the stream of what a server says by itself, which it need not have.
func (w *Web) listen() {
	w.mu.Lock()
	endpoint, begun := w.endpoint, w.stream || w.session == ""
	w.stream = true
	w.mu.Unlock()
	if begun || endpoint == "" {
		return
	}
	w.wg.Go(func() {
		r, err := w.request(w.ctx, http.MethodGet, endpoint, nil, wire.Message{})
		if err != nil {
			return
		}
		answer, err := w.http.Do(r)
		if err != nil {
			return // it has none
		}
		defer drain(answer)
		if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); answer.StatusCode == http.StatusOK && kind == "text/event-stream" {
			_, _, _, _ = w.read(answer, wire.Message{}) // its end is nobody's
		}
	})
}
