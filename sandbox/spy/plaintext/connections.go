package plaintext

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tlsread"
)

const (
	// maxConnections bounds the ends of connections that are known at a time.
	maxConnections = 8192
	// sweepEach is how many pieces without room come before dead connections are looked for again.
	sweepEach = 1024
)

// Options say what becomes of what was read. No function may be nil.
type Options struct {
	// Take gets the pieces of streams.
	Take func(*reassembly.Chunk)
	// Process tells who a process is.
	Process func(pid int) reassembly.Process
	// Alive reports whether a process is still there.
	Alive func(pid int) bool
	// Lose counts what is missing, by reason.
	Lose func(n uint64, why string)
}

// Connections are those of a machine. One goroutine uses them.
type Connections struct {
	o Options
	// ends are by the reader's number.
	ends map[uint64]*end
	// owned are the connections by what their owner sends on, streams all streams.
	owned   map[reassembly.Key]*connection
	streams map[reassembly.Key]*stream
	// refused counts the pieces for which there was no room since the last sweep.
	refused int
}

// end is one program's side of a connection.
type end struct {
	pid     int
	process reassembly.Process
	of      *connection
	// told says that the owner's streams know this end's process, by what it does: sends, receives.
	told [2]bool
}

// connection is one of TCP, read at the end that was seen first: its owner.
type connection struct {
	owner     *end
	sent, got *stream
	web       *conn2 // nil while nobody speaks HTTP/2
}

// The states of a stream.
const (
	looking = iota // for the head of a message
	following
	ignored
)

// stream is one direction, or that of one exchange of HTTP/2.
type stream struct {
	key   reassembly.Key
	state int
	// again says that the next head begins anew: what came before was not MCP.
	again bool
	read  bool // its owner is the reader
	next  uint64
	since time.Duration // when it was followed
}

// New returns Connections.
func New(o Options) *Connections {
	return &Connections{o: o, ends: map[uint64]*end{}, owned: map[reassembly.Key]*connection{}, streams: map[reassembly.Key]*stream{}}
}

// Piece takes what the reader tells. It keeps nothing of the piece.
func (c *Connections) Piece(p *tlsread.Piece) {
	switch p.Kind {
	case tlsread.Sent, tlsread.Received:
		if e := c.end(p); e != nil {
			c.data(e, p)
		}
	case tlsread.Closed:
		c.closed(p)
	}
}

// end finds whose piece it is, nil where there is no room.
func (c *Connections) end(p *tlsread.Piece) *end {
	if e, ok := c.ends[p.Conn]; ok {
		return e
	}
	if len(c.ends) >= maxConnections && c.refused%sweepEach == 0 {
		c.sweep()
	}
	if len(c.ends) >= maxConnections {
		c.refused++
		c.o.Lose(uint64(len(p.Data)), "bytes of TLS connections found no room in the table of connections")
		return nil
	}
	c.refused = 0
	e := &end{pid: p.PID, process: c.o.Process(p.PID)}
	key := keyOf(p)
	if e.of = c.owned[key.Back()]; e.of == nil {
		e.of = &connection{owner: e, sent: &stream{key: key}, got: &stream{key: key.Back(), read: true}}
		c.owned[key], c.streams[key], c.streams[key.Back()] = e.of, e.of.sent, e.of.got
	}
	c.ends[p.Conn] = e
	return e
}

// keyOf is the key of what the end of a piece sends.
func keyOf(p *tlsread.Piece) reassembly.Key {
	k := reassembly.Key{Kind: reassembly.TLS, FromPort: p.Source.Port(), ToPort: p.Dest.Port()}
	if !p.Source.IsValid() {
		binary.BigEndian.PutUint64(k.From[8:], p.Conn)
		return k
	}
	k.From, k.To = address(p.Source), address(p.Dest)
	return k
}

func address(a netip.AddrPort) [16]byte { return a.Addr().As16() }

// data takes what crossed.
func (c *Connections) data(e *end, p *tlsread.Piece) {
	of, sent := e.of, p.Kind == tlsread.Sent
	if of.owner != e {
		c.meet(e, p)
		return
	}
	s := of.got
	if sent {
		s = of.sent
	}
	if of.web == nil && p.Offset == 0 && begins(p.Data) {
		of.web = newHTTP2(c, of)
	}
	if of.web != nil {
		of.web.feed(s, p)
		return
	}
	s.next = uint64(p.Offset)
	c.put(s, p.Time, p.Data, e.process)
}

// put hands on bytes of a stream, once it is followed.
func (c *Connections) put(s *stream, at time.Duration, data []byte, who reassembly.Process) {
	from := s.next
	s.next += uint64(len(data))
	start := false
	switch {
	case s.state == ignored, len(data) == 0 && s.state == looking:
		return
	case s.state == looking, s.again:
		if start = isHead(data); !start && s.state == looking {
			return
		}
	}
	if start {
		s.state, s.again, s.since = following, false, at
	}
	c.o.Take(&reassembly.Chunk{Key: s.key, Time: at, At: from, Start: start, Read: s.read, Process: who, Data: bytes.Clone(data)})
}

// heads are how the messages of HTTP/1.1 begin that MCP is spoken in.
var heads = [][]byte{[]byte("POST "), []byte("GET "), []byte("DELETE "), []byte("HTTP/1.")}

func isHead(data []byte) bool {
	for _, h := range heads {
		if bytes.HasPrefix(data, h) {
			return true
		}
	}
	return false
}

// meet tells a stream who is at its other end.
func (c *Connections) meet(e *end, p *tlsread.Piece) {
	of, sends := e.of, p.Kind == tlsread.Sent
	i, s := 1, of.sent
	if sends {
		i, s = 0, of.got
	}
	if s.state != following || e.told[i] {
		return
	}
	e.told[i] = true
	c.o.Take(&reassembly.Chunk{Key: s.key, Time: max(p.Time, s.since), Met: !sends, Process: e.process})
}

// closed forgets an end, and what it owned.
func (c *Connections) closed(p *tlsread.Piece) {
	e := c.ends[p.Conn]
	delete(c.ends, p.Conn)
	if e == nil || e.of.owner != e {
		return
	}
	of := e.of
	if of.web != nil {
		of.web.end(p.Time)
	}
	c.finish(of.sent, p.Time, e.process)
	c.finish(of.got, p.Time, e.process)
	c.forget(of)
}

// finish says that a stream is over.
func (c *Connections) finish(s *stream, at time.Duration, who reassembly.Process) {
	if s.state == following {
		c.o.Take(&reassembly.Chunk{Key: s.key, Time: at, At: s.next, End: true, Read: s.read, Process: who})
	}
	s.state = looking
}

func (c *Connections) forget(of *connection) {
	for _, s := range []*stream{of.sent, of.got} {
		if c.streams[s.key] == s {
			delete(c.streams, s.key)
		}
	}
	if c.owned[of.sent.key] == of {
		delete(c.owned, of.sent.key)
	}
}

// sweep forgets the connections of processes that have ended.
func (c *Connections) sweep() {
	gone := map[int]bool{}
	for n, e := range c.ends {
		is, known := gone[e.pid]
		if !known {
			is = !c.o.Alive(e.pid)
			gone[e.pid] = is
		}
		if is {
			c.closed(&tlsread.Piece{Conn: n})
		}
	}
}

// Judge says that a stream is not MCP, or is of interest again where a message begins. That comes
// late: another message may have begun since, so that what crosses is handed on all the same.
func (c *Connections) Judge(k reassembly.Key, v reassembly.Verdict) {
	s := c.streams[k]
	switch {
	case s == nil || s.state != following:
	case v == reassembly.Ignore:
		s.state = ignored
	default:
		s.again = true
	}
}
