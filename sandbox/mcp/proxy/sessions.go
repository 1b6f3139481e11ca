package proxy

import (
	"container/list"
	"strconv"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/tap"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxSessions bounds the sessions that are kept apart at a time.
const maxSessions = 256

// mcpSession is one MCP session: its log, and what the gate knows of it.
type mcpSession struct {
	key  string
	log  *session.WireLog
	gate *gate.Session

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
	sse   int64
}

func newSessionTable(opts Options, j *tap.Journal) *sessionTable {
	return &sessionTable{opts: opts, journal: j, byKey: map[string]*list.Element{}, order: list.New()}
}

// of returns the session of a key.
func (l *sessionTable) of(key string) *mcpSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		l.order.MoveToFront(e)
		return e.Value.(*mcpSession)
	}
	t := &mcpSession{key: key, log: l.opts.Open(l.opts.Upstream.Host)}
	if l.opts.Gate != nil {
		t.gate = l.opts.Gate.Session()
	}
	l.byKey[key] = l.order.PushFront(t)
	if l.order.Len() > maxSessions {
		l.drop(l.order.Back())
	}
	return t
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

// nameless reports whether a session is that of all requests without an id.
func (l *sessionTable) nameless(t *mcpSession) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.key == ""
}

// forget ends the session of a key.
func (l *sessionTable) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.byKey[key]; ok {
		l.drop(e)
	}
}

// drop ends a session once all that was put for it is written. The lock is held.
func (l *sessionTable) drop(e *list.Element) {
	t := l.order.Remove(e).(*mcpSession)
	delete(l.byKey, t.key)
	l.journal.After(func() { l.opts.Shut(t.log) })
}

func (l *sessionTable) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.order.Len() > 0 {
		l.drop(l.order.Back())
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
