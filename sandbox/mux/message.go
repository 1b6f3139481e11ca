package mux

import (
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"time"
)

// The kinds of a message, after the channel messages of SSH (RFC 4254 section 5).
const (
	// msgOpen asks for a connection; its data is an Addr.
	msgOpen = byte(1 + iota)
	// msgAccept says that the connection asked for is made.
	msgAccept
	// msgData is bytes of a stream, or one datagram.
	msgData
	// msgEnd says that no more data follows in this direction.
	msgEnd
	// msgWindow adds its four bytes' number to the receiver's send window.
	msgWindow
	// msgClose ends both directions, or refuses a connection; its data is the
	// reason, empty where all is well. A connection is gone once both sides have
	// sent one, and a side sends nothing on it after its own.
	msgClose
	msgKinds
)

const (
	messageHeader = 4 + 1
	// maxData bounds the data of a message: the largest datagram.
	maxData = 64 << 10
	// maxReason bounds the text of a msgClose.
	maxReason = 240
	// maxHost bounds the name in an Addr.
	maxHost = 255
)

// message is one piece of one connection: the payload of a Conns frame.
type message struct {
	id   uint32
	kind byte
	data []byte
}

// frame is a message as a frame that is ready to be written.
func (m message) frame(stamp time.Duration) []byte {
	size := messageHeader + len(m.data)
	b := appendHeader(make([]byte, 0, headerSize+size), Conns, stamp, size)
	return append(append(binary.LittleEndian.AppendUint32(b, m.id), m.kind), m.data...)
}

// decodeMessage reads what the other side wrote, and believes none of it.
func decodeMessage(p []byte) (message, error) {
	if len(p) < messageHeader {
		return message{}, fmt.Errorf("mux: a connection's message of %d bytes", len(p))
	}
	m := message{id: binary.LittleEndian.Uint32(p), kind: p[4], data: p[messageHeader:]}
	bound := map[byte]int{msgOpen: 3 + maxHost, msgData: maxData, msgWindow: 4, msgClose: maxReason}[m.kind]
	switch {
	case m.kind == 0 || m.kind >= msgKinds:
		return message{}, fmt.Errorf("mux: a connection's message of unknown kind %d", m.kind)
	case len(m.data) > bound || m.kind == msgWindow && len(m.data) != bound:
		return message{}, fmt.Errorf("mux: a connection's message of kind %d with %d bytes", m.kind, len(m.data))
	}
	return m, nil
}

// Addr is where a connection is to lead, as the side that opens it names it. It
// implements net.Addr.
type Addr struct {
	// Net is "tcp", "udp", "unix" or "service".
	Net string
	// Host is a name or an address, a unix socket's path ("@name" where it is abstract), or a
	// service's name.
	Host string
	Port int
}

// Network implements net.Addr.
func (a Addr) Network() string { return a.Net }

// String implements net.Addr.
func (a Addr) String() string {
	if a.Net == "unix" || a.Net == NetService {
		return a.Host
	}
	return net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
}

// NetService is the Net of a connection to a real service beside the target.
const NetService = "service"

// addrNets are the networks by their number in a message.
var addrNets = [...]string{"tcp", "udp", "unix", NetService}

func (a Addr) encode() ([]byte, error) {
	for i, n := range addrNets {
		if n == a.Net && a.Port >= 0 && a.Port < 1<<16 && len(a.Host) <= maxHost {
			return append(binary.LittleEndian.AppendUint16([]byte{byte(i)}, uint16(a.Port)), a.Host...), nil
		}
	}
	return nil, fmt.Errorf("mux: no connection leads to %.10q %.300q", a.Net, a.String())
}

func decodeAddr(p []byte) (Addr, error) {
	if len(p) < 3 || int(p[0]) >= len(addrNets) {
		return Addr{}, fmt.Errorf("mux: an address of %d bytes is malformed", len(p))
	}
	return Addr{Net: addrNets[p[0]], Port: int(binary.LittleEndian.Uint16(p[1:])), Host: string(p[3:])}, nil
}
