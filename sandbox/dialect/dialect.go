package dialect

import (
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The services whose dialects are known, by the names that they have in a plan.
const (
	Postgres = "postgres"
	MariaDB  = "mariadb"
	Redis    = "redis"
)

// Bounds of what is held.
const (
	maxMessage = 64 << 10 // of a message, beyond which the rest is skipped
	maxPending = 4096     // statements without an answer
	maxQueries = 64       // texts of statements without an answer
	maxNamed   = 512      // prepared statements
	maxText    = 4 << 10  // of a statement, as it is told
)

// Reader follows one connection. It may be used from two goroutines, one for each direction.
type Reader struct {
	mu     sync.Mutex
	emit   func(trace.Statement)
	lost   func(why string)
	speaks protocol
	// held are the statements of the transaction that is open.
	held   []trace.Statement
	broken bool
	closed bool
}

// protocol is one dialect's part of a Reader.
type protocol interface {
	client(p []byte, at time.Duration) error
	server(p []byte) error
}

// New returns a Reader for a service's connection, nil where its dialect is not known. emit gets
// each statement once the service has answered it, and where it stands in a transaction once that
// has ended. lost is told, at most once, why the rest of the connection cannot be followed.
func New(service string, emit func(trace.Statement), lost func(why string)) *Reader {
	r := &Reader{emit: emit, lost: lost}
	switch service {
	case Postgres:
		r.speaks = newPostgres(r)
	case MariaDB:
		r.speaks = newMySQL(r)
	case Redis:
		r.speaks = newRedis(r)
	default:
		return nil
	}
	return r
}

// Client takes what the client said at a moment.
func (r *Reader) Client(p []byte, at time.Duration) {
	r.read(func() error { return r.speaks.client(p, at) })
}

// Server takes what the service said.
func (r *Reader) Server(p []byte) { r.read(func() error { return r.speaks.server(p) }) }

func (r *Reader) read(f func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken || r.closed {
		return
	}
	if err := f(); err != nil {
		r.broken = true
		r.lost(err.Error())
	}
}

// Close ends the connection: a transaction that is open comes to nothing.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.resolve(true)
	}
}

// done tells a statement, or holds it until its transaction has ended.
func (r *Reader) done(s trace.Statement, open bool) {
	if s.Does == "" {
		return
	}
	// What a program did on the service's machine no rollback undoes.
	if !open || s.Does == trace.StatementMachine || s.Refused || len(r.held) >= maxPending {
		r.emit(s)
		return
	}
	r.held = append(r.held, s)
}

// resolve tells the statements that waited for their outcome.
func (r *Reader) resolve(undone bool) {
	for _, s := range r.held {
		s.Undone = undone
		r.emit(s)
	}
	r.held = nil
}

// bounded is the beginning of a text.
func bounded(s string) string { return s[:min(len(s), maxText)] }
