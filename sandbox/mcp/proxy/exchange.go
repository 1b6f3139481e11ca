package proxy

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The headers of Streamable HTTP.
const headerSession = "Mcp-Session-Id"

// maxBody is the most of a body that is recorded or judged as one message.
const maxBody = 8 << 20

// exchange is one request and its answer.
type exchange struct {
	p     *Proxy
	r     *http.Request
	began time.Time

	mu      sync.Mutex
	body    *capture // of the request, nil once it is recorded
	session *mcpSession
	gate    *gate.Session
	// authorization says that the request is one of the authorization, and none of the
	// protocol's.
	authorization bool
	// fresh says that the session has no name before the answer gives it one.
	fresh bool
	// passed is closed when the answer's events have passed, nil without a goroutine for them.
	passed chan struct{}
}

// put records a frame of the exchange.
func (x *exchange) put(f session.WireFrame) {
	x.mu.Lock()
	t := x.session
	x.mu.Unlock()
	if t == nil {
		t = x.resolveSession(nil)
	}
	x.p.journal.Put(t.log, f)
}

// resolveSession says which session the exchange belongs to: that of the request's id,
// or of the one that the answer gives, or of the endpoint that is posted to.
func (x *exchange) resolveSession(answer http.Header) *mcpSession {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.session != nil {
		return x.session
	}
	id := x.r.Header.Get(headerSession)
	if id == "" && answer != nil {
		id = answer.Get(headerSession)
	}
	key := ""
	switch {
	case id != "":
		key = "session " + id
	case x.r.Method == http.MethodPost:
		if at := endpointKey(x.p.targetOf(x.r)); x.r.URL.RawQuery != "" || x.p.sessions.known(at) {
			key = at
		}
	}
	if key == "" {
		key = x.p.scopeKey(x.r.Header)
	}
	x.session = x.p.sessions.enter(key)
	return x.session
}

// capture copies what passes, up to a bound.
type capture struct {
	io.ReadCloser
	mu   sync.Mutex
	head []byte
	n    int64
}

// Read implements io.Reader.
func (c *capture) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += int64(n)
	c.head = append(c.head, p[:min(n, max(0, maxBody-len(c.head)))]...)
	return n, err
}

// frame is what was captured as a frame.
func (c *capture) frame() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n > int64(len(c.head)) {
		return append(c.head[:min(len(c.head), wire.HeadSize)], "… [cut: the body has "+strconv.FormatInt(c.n, 10)+" bytes]"...)
	}
	return c.head
}

// question takes what the client posts. It reports whether the request goes on.
func (x *exchange) question(w http.ResponseWriter, r *http.Request) bool {
	if x.p.opts.Gate == nil {
		if r.Body != nil && r.Body != http.NoBody {
			x.body = &capture{ReadCloser: r.Body}
			r.Body = x.body
		}
		return true
	}
	return x.judge(w, r)
}

// asked records what the client posted, once.
func (x *exchange) asked() {
	x.mu.Lock()
	body := x.body
	x.body = nil
	x.mu.Unlock()
	if body == nil {
		return
	}
	raw := body.frame()
	if kind, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type")); kind == typeForm {
		if _, err := wire.Parse(raw); err != nil {
			raw = fmt.Appendf(nil, "[a form of %d bytes, which is not a message]", len(raw))
		}
	}
	if len(bytes.TrimSpace(raw)) > 0 {
		x.put(session.WireFrame{Dir: session.C2S, At: x.began, Raw: raw})
	}
}

// end records what no answer came for, and leaves the session once nothing more can be
// recorded: the handler has closed the answer's body, so its events come to an end.
func (x *exchange) end() {
	x.asked()
	if x.passed != nil {
		<-x.passed
	}
	x.mu.Lock()
	t := x.session
	x.mu.Unlock()
	if t != nil {
		x.p.sessions.leave(t)
	}
}

// answer sees to it that the server's answer is recorded as it passes.
func (x *exchange) answer(r *http.Response) error {
	if err := x.redirect(r); err != nil {
		return err
	}
	gated := x.p.opts.Gate != nil
	if x.authorization && !gated {
		return nil
	}
	if r.Request.Method == http.MethodDelete && !gated {
		x.ended(r)
		return nil
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	stream := kind == typeEvents
	if g := x.p.opts.Gate; gated && g.Closed() {
		if err := x.plainAnswer(r, kind); err != nil {
			return err
		}
	}
	// The older transport: the endpoint's event will name the session.
	older := stream && x.r.Method == http.MethodGet && x.r.Header.Get(headerSession) == ""
	switch {
	case !x.authorization && (stream || bearsMessage(x.r.Method)):
		t := x.place(r.Header, older)
		x.asked()
		if x.gate == nil {
			x.gate = t.gate
		}
	case gated: // it is of no session, and has no log
		x.gate = x.p.opts.Gate.Session()
	default:
		return nil
	}
	x.ended(r)
	switch {
	case stream:
		r.Body = newEvents(x, r.Body, older)
		// An event may be made longer or shorter.
		r.Header.Del("Content-Length")
		r.ContentLength = -1
	case gated && r.Body != nil && r.Body != http.NoBody && x.r.Method != http.MethodHead:
		return x.judgeAnswer(r, kind == typeJSON && x.isMessage(r))
	case r.Body != nil && r.ContentLength != 0:
		r.Body = &recorded{capture: &capture{ReadCloser: r.Body}, x: x, failed: r.StatusCode >= 300}
	}
	return nil
}

// ended forgets a session that the client has ended.
func (x *exchange) ended(r *http.Response) {
	if x.r.Method == http.MethodDelete && r.StatusCode < 300 {
		x.p.sessions.forget("session " + x.r.Header.Get(headerSession))
	}
}

// targetOf is the path and the query of a request in their one form.
func (p *Proxy) targetOf(r *http.Request) string {
	if a, err := parseAddress(p.origin, r.RequestURI); err == nil && a.origin == p.origin {
		return a.target()
	}
	return r.URL.RequestURI()
}

// place says which session the exchange belongs to, now that its answer is here.
func (x *exchange) place(answer http.Header, older bool) *mcpSession {
	if older {
		x.enterStream()
	}
	t := x.resolveSession(answer)
	if x.fresh {
		key := ""
		if id := answer.Get(headerSession); id != "" {
			key = "session " + id
		}
		x.p.sessions.rekey(t, key)
	}
	return t
}

// enterStream moves the exchange to a session of its own.
func (x *exchange) enterStream() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.session != nil {
		x.p.sessions.leave(x.session)
	}
	x.session = x.p.sessions.enter(x.p.sessions.stream())
}

// recorded is a body that is recorded when it has passed.
type recorded struct {
	*capture
	x    *exchange
	once sync.Once
	// failed says that the body may be HTTP's own word, and no message.
	failed bool
}

// Read implements io.Reader.
func (b *recorded) Read(p []byte) (int, error) {
	n, err := b.capture.Read(p)
	if err != nil {
		b.record()
	}
	return n, err
}

// Close implements io.Closer.
func (b *recorded) Close() error {
	b.record()
	return b.ReadCloser.Close()
}

func (b *recorded) record() {
	b.once.Do(func() {
		raw := b.frame()
		if b.failed {
			if _, err := wire.Parse(raw); err != nil {
				return
			}
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			b.x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: raw})
		}
	})
}

// endpoint takes in the address that an older server names, which is where its client
// will post to. changed is a path of the proxy's own that every client reads alike,
// nil for what was named; ours is false for another server's.
func (x *exchange) endpoint(data []byte) (changed []byte, ours bool) {
	a, ours, err := x.p.referred(x.r.Host, x.r.RequestURI, string(data))
	if err != nil || !ours {
		return nil, false
	}
	x.p.paths.message(a.path)
	x.p.sessions.rekey(x.resolveSession(nil), endpointKey(a.target()))
	if x.p.opts.Gate == nil && a.origin != x.p.origin || a.target() == string(data) {
		return nil, true
	}
	return []byte(a.target()), true
}

// reply is the answer of the gate itself.
func reply(w http.ResponseWriter, raw []byte) {
	if raw == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	_, _ = w.Write(raw) // the client may have left
}
