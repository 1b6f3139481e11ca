package reassembly

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	headerSession = "Mcp-Session-Id"
	typeEvents    = "text/event-stream"
	// maxOpen bounds the requests of a connection that wait for their answers.
	maxOpen = 64
)

// link is one connection of HTTP.
type link struct {
	e        *Engine
	key      Key // of the requests
	requests *stream
	answers  *stream
	open     []*exchange
}

// exchange is a request and its answer.
type exchange struct {
	l             *link
	method        string
	host, target  string
	path          string
	session       string
	began         time.Duration
	acceptsEvents bool
	posted        *collected
	held          content // the request's message, until it is known where it belongs
	since         time.Duration
	conv          *Conversation
	mcp           bool
}

// half makes the reader of one direction of a connection.
func (e *Engine) half(s *stream, requests bool) *half {
	key := s.key
	if !requests {
		key = key.Back()
	}
	l := e.links[key]
	if l == nil {
		l = &link{e: e, key: key}
		e.links[key] = l
	}
	h := &half{whole: s.whole, lost: func() { e.opts.Verdict(s.key, LookAgain) }}
	if requests {
		l.requests = s
		h.head = func(block []byte) (body, int64) { return l.request(h, block) }
	} else {
		l.answers = s
		h.head = func(block []byte) (body, int64) { return l.answer(h, block) }
	}
	return h
}

// client and server are the processes at a connection's ends, nil while unknown.
func (l *link) client() *Process { return either(l.requests, l.answers) }
func (l *link) server() *Process { return either(l.answers, l.requests) }

func either(writes, reads *stream) *Process {
	if writes != nil && writes.writer != nil {
		return writes.writer
	}
	if reads != nil && reads.reader != nil {
		return reads.reader
	}
	return nil
}

// request reads a request's head.
func (l *link) request(h *half, block []byte) (body, int64) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(block)))
	if err != nil || len(l.open) >= maxOpen {
		return nil, noHTTP
	}
	x := &exchange{l: l, method: r.Method, host: r.Host, target: r.URL.RequestURI(), path: r.URL.Path, session: r.Header.Get(headerSession), began: h.now}
	x.acceptsEvents = strings.Contains(r.Header.Get("Accept"), typeEvents)
	l.open = append(l.open, x)
	if r.Method != http.MethodPost && (r.Method != http.MethodGet || !x.acceptsEvents) && x.session == "" {
		l.e.opts.Verdict(l.key, LookAgain)
	}
	x.posted = &collected{encoding: r.Header.Get("Content-Encoding"), done: x.asked}
	return x.posted, length(r.TransferEncoding, r.ContentLength, 0)
}

// length is what a head says of its body.
func length(encoding []string, n, unknown int64) int64 {
	switch {
	case len(encoding) > 0 && encoding[len(encoding)-1] == "chunked":
		return chunked
	case n < 0:
		return unknown
	}
	return n
}

// asked takes the whole body of a request.
func (x *exchange) asked(c content, whole bool) {
	raw := c.raw
	if x.method != http.MethodPost || !whole || !isRPC(raw) && !bytes.Contains(raw[:min(len(raw), wire.HeadSize)], []byte(`"jsonrpc"`)) {
		if x.method == http.MethodPost && x.session == "" {
			x.l.e.opts.Verdict(x.l.key, LookAgain)
		}
		return
	}
	x.mcp, x.held, x.since = true, c, x.l.e.now
	e := first(raw)
	if method, _ := wire.Text(e.Method); x.session == "" && method == wire.MethodInitialize {
		return // the answer names the session
	}
	if x.l.server() != nil {
		x.place("")
	}
}

// place finds the conversation, and hands on the request's message.
func (x *exchange) place(named string) {
	e := x.l.e
	if x.conv == nil {
		at := x.l.key.end()
		id := x.session
		if id == "" {
			id = named
		}
		if c := e.convs["endpoint "+at+" "+x.target]; id == "" && c != nil {
			x.conv = c
		} else if id != "" {
			x.conv = e.conversation("session "+at+" "+id, HTTP)
		} else {
			client := 0
			if p := x.l.client(); p != nil {
				client = p.PID
			}
			x.conv = e.conversation("client "+at+" "+itoa(client), HTTP)
		}
	}
	if x.conv.Host == "" {
		x.conv.Host = x.host
	}
	if c := x.held; c.raw != nil {
		x.held = content{}
		x.put(session.C2S, x.began, c, nil)
	}
}

// put hands on a message of the exchange.
func (x *exchange) put(d session.Dir, at time.Duration, what content, sse *session.SSE) {
	client, server := x.l.client(), x.l.server()
	if client == nil {
		client = x.l.other(server, false)
	}
	if server == nil {
		server = x.l.other(client, true)
	}
	c := x.conv
	if c.Client == nil {
		c.Client, c.Server = client, server
	}
	m := &Message{Dir: d, At: at, From: client, To: server, Raw: what.raw, Cut: what.cut, SSE: sse, HTTP: &Web{Host: x.host, Path: x.path, Request: d == session.C2S}}
	if d == session.S2C {
		m.From, m.To = server, client
	}
	x.l.e.emit(c, m)
}

// other finds the side of a connection that was not seen.
func (l *link) other(known *Process, serves bool) *Process {
	s := l.requests
	if s == nil {
		s = l.answers
	}
	if known == nil || s == nil {
		return &Process{}
	}
	p := l.e.holder(s, known, serves == (s == l.requests))
	if l.requests != nil && serves {
		l.requests.reader = p
	} else if l.requests != nil {
		l.requests.writer = p
	}
	return p
}

// answer reads the head of an answer.
func (l *link) answer(h *half, block []byte) (body, int64) {
	var x *exchange
	if len(l.open) > 0 {
		x = l.open[0]
	}
	asked := &http.Request{Method: http.MethodGet}
	if x != nil {
		asked.Method = x.method
	}
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), asked)
	if err != nil {
		return nil, noHTTP
	}
	defer r.Body.Close()
	if r.StatusCode == http.StatusSwitchingProtocols {
		l.e.opts.Verdict(l.key, Ignore)
		l.e.opts.Verdict(l.key.Back(), Ignore)
		return nil, noHTTP
	}
	if r.StatusCode < 200 {
		return nil, 0
	}
	n := length(r.TransferEncoding, r.ContentLength, untilOver)
	if asked.Method == http.MethodHead || r.StatusCode == http.StatusNoContent || r.StatusCode == http.StatusNotModified {
		n = 0
	}
	if x == nil {
		return ignored{}, n
	}
	l.open = l.open[1:]
	return x.answered(h, r), n
}

// answered says who takes the body of the exchange's answer.
func (x *exchange) answered(h *half, r *http.Response) body {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	events := kind == typeEvents
	id := r.Header.Get(headerSession)
	switch {
	case x.mcp:
		x.place(id)
	case x.method == http.MethodDelete && x.session != "" && r.StatusCode < 300:
		x.forget()
		return ignored{}
	case events && x.method == http.MethodGet && x.session != "":
		x.conv = x.l.e.conversation("session "+x.l.key.end()+" "+x.session, HTTP)
	case events && x.method == http.MethodGet:
	default:
		x.l.e.opts.Verdict(x.l.key.Back(), LookAgain)
		return ignored{}
	}
	if events {
		return &eventBody{x: x, h: h, split: wire.NewEventSplitter(maxMessage)}
	}
	return &collected{encoding: r.Header.Get("Content-Encoding"), done: func(c content, whole bool) {
		if x.conv != nil && (whole && r.StatusCode < 300 && len(bytes.TrimSpace(c.raw)) > 0 || isRPC(c.raw)) {
			x.put(session.S2C, h.now, c, nil)
		}
	}}
}

// forget ends a session that the client has ended.
func (x *exchange) forget() {
	key := "session " + x.l.key.end() + " " + x.session
	if c := x.l.e.convs[key]; c != nil {
		delete(x.l.e.convs, key)
		x.l.e.end(c)
	}
}

// tick hands on requests whose server does not answer.
func (l *link) tick(now time.Duration) {
	for _, x := range l.open {
		if x.held.raw != nil && (now-x.since > unread || l.server() != nil && x.session != "") {
			x.place("")
		}
	}
}

// close hands on what is left of a connection.
func (l *link) close() {
	for _, x := range l.open {
		if x.held.raw != nil {
			x.place("")
		}
	}
	l.open = nil
}

// ignored is a body that does not matter.
type ignored struct{}

func (ignored) data([]byte)   {}
func (ignored) missing(int64) {}
func (ignored) over(bool)     {}

// collected is a body that is kept until it is over.
type collected struct {
	encoding string
	done     func(c content, whole bool)
	buf      []byte
	n        int64
	gaps     bool
}

func (c *collected) data(p []byte) {
	c.n += int64(len(p))
	if c.gaps {
		return
	}
	c.buf = append(c.buf, p[:min(len(p), max(0, maxMessage-len(c.buf)))]...)
}

func (c *collected) missing(n int64) {
	c.n += n
	c.gaps, c.buf = true, nil
}

func (c *collected) over(whole bool) {
	out := content{raw: c.buf}
	c.buf = nil
	switch {
	case c.encoding == "gzip" && int64(len(out.raw)) == c.n:
		out = unzip(out.raw)
	case c.n > int64(len(out.raw)) && !c.gaps:
		out = cut(out.raw, "body", c.n)
	}
	c.done(out, whole && !c.gaps)
}

// unzip is a text that was compressed, empty for one that cannot be read.
func unzip(raw []byte) content {
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return content{}
	}
	out, err := io.ReadAll(io.LimitReader(r, maxMessage+1))
	switch {
	case err != nil:
		return content{}
	case len(out) > maxMessage:
		return cut(out, "part of the body that was unpacked", maxMessage)
	}
	return content{raw: out}
}

// eventBody is a stream of events.
type eventBody struct {
	x     *exchange
	h     *half
	split *wire.EventSplitter
	long  int64
	head  []byte
	gap   bool // what is held of an event is not whole
}

func (v *eventBody) data(p []byte) { v.split.Feed(p, v.event) }

func (v *eventBody) missing(int64) {
	v.split.Flush(func(wire.Event) {})
	v.gap = true
}

func (v *eventBody) over(bool) {
	v.split.Flush(v.event)
	v.cut()
}

// event takes one event, or a piece of one.
func (v *eventBody) event(e wire.Event) {
	if v.gap {
		v.gap = false // the rest of an event whose beginning is missing
		return
	}
	if e.Oversize {
		v.long += int64(len(e.Raw))
		v.head = append(v.head, e.Raw[:min(len(e.Raw), wire.HeadSize-len(v.head))]...)
		return
	}
	v.cut()
	v.h.whole()
	x := v.x
	if e.Name == "endpoint" && x.conv == nil {
		x.conv = x.l.e.conversation("stream "+x.l.key.end()+itoa(x.l.e.count+1), SSE)
		x.l.e.convs["endpoint "+x.l.key.end()+" "+endpoint(string(e.Data))] = x.conv
		x.conv.Host = x.host
	}
	if x.conv == nil && isRPC(e.Data) {
		x.place("")
	}
	if x.conv == nil || len(bytes.TrimSpace(e.Data)) == 0 {
		return
	}
	var sse *session.SSE
	if e.Name != "" || e.ID != "" || e.Retry != "" {
		sse = &session.SSE{Event: e.Name, ID: e.ID, Retry: e.Retry}
	}
	x.put(session.S2C, v.h.now, content{raw: bytes.Clone(e.Data)}, sse)
}

// cut hands on what is known of an event that was too long.
func (v *eventBody) cut() {
	if v.long > 0 && v.x.conv != nil {
		v.x.put(session.S2C, v.h.now, cut(v.head, "event", v.long), nil)
	}
	v.long, v.head = 0, nil
}
