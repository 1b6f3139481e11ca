package dialect

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The commands of MySQL's protocol that carry statements, and those that get no answer.
const (
	comQuit        = 0x01
	comQuery       = 0x03
	comPrepare     = 0x16
	comExecute     = 0x17
	comLongData    = 0x18
	comCloseStored = 0x19
)

// clientSSL is the capability by which a client goes on with TLS.
const clientSSL = 1 << 11

// mySQL is the protocol of MySQL and MariaDB.
type mySQL struct {
	r        *Reader
	up, down frames
	// greeted says that the client's handshake was read.
	greeted bool
	texts   map[uint32]string
	waiting []myWaiting
	// open says that statements belong to a transaction.
	open, manual bool
}

// myWaiting is a command whose answer is to come.
type myWaiting struct {
	command byte
	text    string
	at      time.Duration
}

func newMySQL(r *Reader) *mySQL {
	size := func(h []byte) int { return int(h[0]) | int(h[1])<<8 | int(h[2])<<16 }
	return &mySQL{r: r, texts: map[uint32]string{}, up: frames{header: 4, size: size}, down: frames{header: 4, size: size}}
}

func (m *mySQL) client(b []byte, at time.Duration) error {
	return m.up.feed(b, func(head, body []byte) error {
		switch {
		case !m.greeted:
			if m.greeted = true; len(body) >= 4 && len(body) <= 32 && binary.LittleEndian.Uint32(body)&clientSSL != 0 {
				return errors.New("the connection to the service is encrypted")
			}
		case head[3] == 0 && len(body) > 0:
			m.command(body, at)
		}
		if len(m.waiting) > maxQueries {
			return errors.New("too many statements wait for an answer")
		}
		return nil
	})
}

// command takes the first packet of a command.
func (m *mySQL) command(body []byte, at time.Duration) {
	w := myWaiting{command: body[0], at: at}
	switch body[0] {
	case comQuit, comLongData, comCloseStored:
		return
	case comQuery, comPrepare:
		w.text = string(body[1:])
	case comExecute:
		if len(body) >= 5 {
			w.text = m.texts[binary.LittleEndian.Uint32(body[1:])]
		}
	}
	m.waiting = append(m.waiting, w)
}

func (m *mySQL) server(b []byte) error {
	return m.down.feed(b, func(head, body []byte) error {
		// The first packet that answers a command has the number after the command's.
		if head[3] != 1 || len(body) == 0 || len(m.waiting) == 0 {
			return nil
		}
		w := m.waiting[0]
		m.waiting = m.waiting[1:]
		m.answered(w, body)
		return nil
	})
}

func (m *mySQL) answered(w myWaiting, body []byte) {
	refused := body[0] == 0xff
	if w.command == comPrepare {
		if !refused && len(body) >= 5 && len(m.texts) < maxNamed {
			m.texts[binary.LittleEndian.Uint32(body[1:])] = w.text
		}
		return
	}
	if w.command != comQuery && w.command != comExecute {
		return
	}
	for _, s := range split(w.text, true) {
		if !refused {
			m.transaction(s)
		}
		done := s.statement(w.at, MariaDB)
		done.Refused = refused
		m.r.done(done, m.open || m.manual)
	}
}

// transaction follows what begins and ends transactions. A definition ends the one that is open.
func (m *mySQL) transaction(s part) {
	switch s.word(0) {
	case "BEGIN":
		m.r.resolve(false)
		m.open = true
	case "START":
		m.r.resolve(false)
		m.open = true
	case "COMMIT":
		m.r.resolve(false)
		m.open = false
	case "ROLLBACK":
		if !s.has("TO") {
			m.r.resolve(true)
			m.open = false
		}
	case "SET":
		if i := s.after("AUTOCOMMIT"); i > 0 {
			m.manual = s.word(len(s.tokens)-1) == "0" || s.word(len(s.tokens)-1) == "OFF"
			if !m.manual {
				m.r.resolve(false)
			}
		}
	case "CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME", "GRANT", "REVOKE":
		if !s.has("TEMPORARY") {
			m.r.resolve(false)
			done := s.read(true)
			if done.Does == trace.StatementDestroys || done.Does == trace.StatementWrites {
				m.open = false
			}
		}
	}
}
