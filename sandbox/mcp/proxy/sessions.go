package proxy

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/tap"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// DefaultSessions is how many sessions are kept apart at a time.
const DefaultSessions = 256

// mcpSession is one MCP session: its log, and what the gate knows of it.
type mcpSession struct {
	key  string
	log  *session.WireLog
	gate *gate.Session

	// users are the exchanges under way. The lock of the table guards them.
	users int

	mu sync.Mutex
	// answer writes to the stream on which an older server answers, nil without one.
	answer func(raw []byte) error
}

func (t *mcpSession) inject(answer func([]byte) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answer = answer
}

// send answers on the session's stream, and reports whether it has one.
func (t *mcpSession) send(raw []byte) bool {
	t.mu.Lock()
	answer := t.answer
	t.mu.Unlock()
	return answer != nil && answer(raw) == nil
}

// sessionTable keeps sessions apart by the ids that servers give them. What has no id
// is one session: the requests of a server without any.
type sessionTable struct {
	opts    Options
	journal *tap.Journal

	mu    sync.Mutex
	byKey map[string]*list.Element // of order
	order *list.List               // of *mcpSession, the one used last in front
	// leaving are the sessions that have ended while exchanges of theirs are under way.
	leaving map[*mcpSession]bool
	sse     int64
}

func newSessionTable(opts Options, j *tap.Journal) *sessionTable {
	return &sessionTable{opts: opts, journal: j, byKey: map[string]*list.Element{}, order: list.New(), leaving: map[*mcpSession]bool{}}
}

// enter returns the session of a key for one exchange, which leaves it when it is done.
func (l *sessionTable) enter(key string) *mcpSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		l.order.MoveToFront(e)
		t := e.Value.(*mcpSession)
		t.users++
		return t
	}
	t := &mcpSession{key: key, log: l.opts.Open(l.opts.Upstream.Host), users: 1}
	if l.opts.Gate != nil {
		t.gate = l.opts.Gate.Session()
	}
	l.byKey[key] = l.order.PushFront(t)
	if l.order.Len() > l.opts.Sessions {
		l.drop(l.order.Back())
	}
	return t
}

// leave ends one exchange of a session.
func (l *sessionTable) leave(t *mcpSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.users--; t.users == 0 && l.leaving[t] {
		delete(l.leaving, t)
		l.shut(t)
	}
}

// rekey makes a session known under another key, which the server has given it.
func (l *sessionTable) rekey(t *mcpSession, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.byKey[t.key]
	if _, taken := l.byKey[key]; !ok || taken {
		return
	}
	delete(l.byKey, t.key)
	t.key = key
	l.byKey[key] = e
}

// known reports whether a key is a session's.
func (l *sessionTable) known(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.byKey[key]
	return ok
}

// nameless reports whether a session is that of many requests without an id.
func (l *sessionTable) nameless(t *mcpSession) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.key == "" || strings.HasPrefix(t.key, scopePrefix)
}

// forget ends the session of a key.
func (l *sessionTable) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		l.drop(e)
	}
}

// drop ends a session once no exchange can put a frame into its log. The lock is held.
func (l *sessionTable) drop(e *list.Element) {
	t := l.order.Remove(e).(*mcpSession)
	delete(l.byKey, t.key)
	if t.users > 0 {
		l.leaving[t] = true
		return
	}
	l.shut(t)
}

// shut closes a session's log behind all that was put into it.
func (l *sessionTable) shut(t *mcpSession) {
	l.journal.After(func() { l.opts.Shut(t.log) })
}

// closeAll shuts the logs of all sessions, also where an exchange was given up.
func (l *sessionTable) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.order.Len() > 0 {
		l.drop(l.order.Back())
	}
	for t := range l.leaving {
		delete(l.leaving, t)
		l.shut(t)
	}
}

// stream is a key for a stream of the older transport, whose endpoint is not known yet.
func (l *sessionTable) stream() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sse++
	return "stream " + strconv.FormatInt(l.sse, 10)
}

// endpointKey is the key of a session whose client posts to this path and query.
func endpointKey(pathAndQuery string) string { return "endpoint " + strings.TrimSpace(pathAndQuery) }

const scopePrefix = "scope "

// scopeKey is the key of the session of a request without an id: its credentials and the
// configured headers, by their digest alone. It is "" where no header is configured.
func (p *Proxy) scopeKey(h http.Header) string {
	if len(p.opts.Scope) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, name := range append([]string{"Authorization", "Cookie"}, p.opts.Scope...) {
		fmt.Fprintf(sum, "%q %q\n", http.CanonicalHeaderKey(name), h.Values(name))
	}
	return scopePrefix + hex.EncodeToString(sum.Sum(nil))
}

// named reports whether a request says who calls: by credentials, or by a configured header.
func (p *Proxy) named(h http.Header) bool {
	return slices.ContainsFunc(append([]string{"Authorization", "Cookie"}, p.opts.Scope...), func(name string) bool { return h.Get(name) != "" })
}
