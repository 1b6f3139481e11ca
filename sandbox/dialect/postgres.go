package dialect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

var errMalformed = errors.New("what was said on a connection to a service is no message of its protocol")

// The codes in place of a version in a client's first message (PostgreSQL, Message Formats).
const (
	pgCancel = 80877102
	pgSSL    = 80877103
	pgGSS    = 80877104
)

// postgres is protocol 3 of PostgreSQL.
type postgres struct {
	r        *Reader
	up, down frames
	// started says that the client's first message has been read, and bytes how many answers
	// of a single byte are due before the first message of the server.
	started bool
	bytes   int
	// texts are the prepared statements by name, and portals those that are bound.
	texts, portals map[string]part
	// waiting are the statements whose answers are to come.
	waiting []pgWaiting
	// open says that a transaction is, and failed that a statement outside one failed:
	// what was sent with it is undone.
	open, failed bool
	// queries counts the simple queries that wait.
	queries int
}

// pgWaiting is one statement of the extended protocol, all those of one simple query, or the end
// of a series.
type pgWaiting struct {
	parts []part
	at    time.Duration
	// ends says that the service answers it with ReadyForQuery, and query that it is a simple query.
	ends, query bool
}

func newPostgres(r *Reader) *postgres {
	p := &postgres{r: r, texts: map[string]part{}, portals: map[string]part{}}
	p.up = frames{header: 4, size: func(h []byte) int { return int(int32(binary.BigEndian.Uint32(h))) - 4 }}
	p.down = frames{header: 5, size: func(h []byte) int { return int(int32(binary.BigEndian.Uint32(h[1:]))) - 4 }}
	return p
}

func (p *postgres) client(b []byte, at time.Duration) error {
	return p.up.feed(b, func(head, body []byte) error {
		if !p.started {
			return p.start(body)
		}
		p.said(head[0], body, at)
		if len(p.waiting) > maxPending || p.queries > maxQueries {
			return errors.New("too many statements wait for an answer")
		}
		return nil
	})
}

// start reads a message before the first one that has a type.
func (p *postgres) start(body []byte) error {
	if len(body) < 4 {
		return errMalformed
	}
	switch binary.BigEndian.Uint32(body) {
	case pgSSL, pgGSS:
		p.bytes++
	case pgCancel:
	default:
		p.started = true
		p.up.header, p.up.size = 5, p.down.size
	}
	return nil
}

// said takes a message of the client's.
func (p *postgres) said(kind byte, body []byte, at time.Duration) {
	word := func() string {
		w, rest, _ := bytes.Cut(body, []byte{0})
		body = rest
		return string(w)
	}
	switch kind {
	case 'Q':
		p.queries++
		p.waiting = append(p.waiting, pgWaiting{parts: split(word(), false), at: at, ends: true, query: true})
	case 'P':
		name := word()
		if parts := append(split(word(), false), part{}); len(p.texts) < maxNamed || name == "" {
			p.texts[name] = parts[0]
		}
	case 'B':
		if portal := word(); len(p.portals) < maxNamed || portal == "" {
			p.portals[portal] = p.texts[word()]
		}
	case 'E':
		p.waiting = append(p.waiting, pgWaiting{parts: []part{p.portals[word()]}, at: at})
	case 'S':
		p.waiting = append(p.waiting, pgWaiting{at: at, ends: true})
	}
}

func (p *postgres) server(b []byte) error {
	for p.bytes > 0 && len(b) > 0 {
		p.bytes--
		if b[0] == 'S' {
			return errors.New("the connection to the service is encrypted")
		}
		b = b[1:]
	}
	if len(b) == 0 {
		return nil
	}
	return p.down.feed(b, func(head, body []byte) error {
		p.answered(head[0], body)
		return nil
	})
}

// answered takes a message of the server's.
func (p *postgres) answered(kind byte, body []byte) {
	switch kind {
	case 'C':
		tag, _, _ := bytes.Cut(body, []byte{0})
		p.complete(string(tag))
	case 'I', 's':
		p.next()
	case 'E':
		p.refused()
	case 'Z':
		p.ready(len(body) > 0 && body[0] != 'I')
	}
}

// next takes the statement that was answered off the list.
func (p *postgres) next() (part, time.Duration, bool) {
	if len(p.waiting) == 0 || len(p.waiting[0].parts) == 0 {
		return part{}, 0, false
	}
	w := &p.waiting[0]
	s, at := w.parts[0], w.at
	if w.parts = w.parts[1:]; len(w.parts) == 0 && !w.ends {
		p.waiting = p.waiting[1:]
	}
	return s, at, true
}

// complete is a statement that was carried out.
func (p *postgres) complete(tag string) {
	s, at, ok := p.next()
	if !ok {
		return
	}
	switch word, _, _ := strings.Cut(tag, " "); {
	case word == "COMMIT":
		p.r.resolve(false)
	case word == "ROLLBACK" && !s.has("TO"):
		p.r.resolve(true)
	}
	// Until ReadyForQuery says otherwise, all that was sent together is one transaction.
	p.r.done(s.statement(at, Postgres), true)
}

// refused is a statement that failed, and with it the rest of what was sent together.
func (p *postgres) refused() {
	if s, at, ok := p.next(); ok {
		done := s.statement(at, Postgres)
		done.Refused = true
		p.r.done(done, false)
		p.failed = true
	}
	for len(p.waiting) > 0 && !p.waiting[0].ends {
		p.waiting = p.waiting[1:]
	}
	if len(p.waiting) > 0 {
		p.waiting[0].parts = nil
	}
}

// ready is the end of what was sent together.
func (p *postgres) ready(open bool) {
	if len(p.waiting) > 0 && p.waiting[0].ends {
		if p.waiting[0].query {
			p.queries--
		}
		p.waiting = p.waiting[1:]
	}
	if !open {
		p.r.resolve(p.failed)
	}
	p.open, p.failed = open, false
}

// statement is what is told of a part.
func (s part) statement(at time.Duration, service string) trace.Statement {
	out := s.read(service == MariaDB)
	out.Time, out.Text, out.Bare = at, bounded(s.text), bounded(s.bare())
	return out
}
