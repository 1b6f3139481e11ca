package tlsread

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"
)

// Kind is what a Piece tells.
type Kind uint32

// The kinds.
const (
	// Bound says which socket the connection uses: Source and Dest.
	Bound Kind = 2 + iota
	// Sent is plaintext that the library took to be sent.
	Sent
	// Offered is plaintext that the library was given and did not take, as before the end of a handshake.
	// A program gives it again, so that it may be told more than once.
	Offered
	// Received is plaintext that the library handed to the program.
	Received
	// Named says which server name the program asked for: Data.
	Named
	// Closed says that the program let go of the connection.
	Closed
	// found says that a process runs or maps a file: Conn is the kernel's side's key of it.
	found
)

// Piece is one observation of a TLS connection.
type Piece struct {
	Kind Kind
	// Time is CLOCK_MONOTONIC.
	Time time.Duration
	// Conn numbers the connections of a Reader.
	Conn uint64
	// PID and Thread are the machine's numbers of the process and the task; Task is the task's
	// number in the watched pid namespace, 0 where none is watched.
	PID, Thread, Task int
	// Source and Dest are the ends of the TCP connection, zero while they are not known.
	Source, Dest netip.AddrPort
	// Offset is where Data begins in all that the connection carried that way.
	Offset int64
	// Data is valid until the function that got it returns.
	Data []byte
	// Whole says that the connection was watched from its begin. Cut says that some of it was
	// left out by Options.Limit, Lost that some could not be read.
	Whole, Cut, Lost bool
}

const (
	flagWhole = 1 << iota
	flagCut
	flagLost
)

// headSize is the length in bytes of the kernel's side's struct head.
const headSize = 88

var errShort = errors.New("TLS reader: an event is cut short")

// read takes an event apart.
func (p *Piece) read(b []byte) error {
	if len(b) < headSize {
		return errShort
	}
	n := binary.NativeEndian
	flags, size := n.Uint32(b[40:]), n.Uint32(b[44:])
	if uint64(size) > uint64(len(b)-headSize) {
		return errShort
	}
	*p = Piece{
		Kind: Kind(n.Uint32(b[36:])), Time: time.Duration(n.Uint64(b)), Conn: n.Uint64(b[8:]), Offset: int64(n.Uint64(b[16:])),
		Thread: int(int32(n.Uint32(b[24:]))), PID: int(int32(n.Uint32(b[28:]))), Task: int(int32(n.Uint32(b[32:]))),
		Data:  b[headSize : headSize+int(size)],
		Whole: flags&flagWhole != 0, Cut: flags&flagCut != 0, Lost: flags&flagLost != 0,
	}
	ends := b[48:]
	p.Source, p.Dest = end(ends, n.Uint16(ends[32:]), n.Uint16(ends[36:])), end(ends[16:], n.Uint16(ends[34:]), n.Uint16(ends[36:]))
	return nil
}

// The address families of linux/socket.h.
const (
	familyInet  = 2
	familyInet6 = 10
)

func end(addr []byte, port, family uint16) netip.AddrPort {
	switch family {
	case familyInet:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(addr[:4])), port)
	case familyInet6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(addr[:16])).Unmap(), port)
	}
	return netip.AddrPort{}
}
