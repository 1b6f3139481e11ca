package sinkhole

import (
	"container/list"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// maxUDP bounds the pairs of ports that are remembered; the one that was silent
// longest is closed for a new one.
const maxUDP = 2048

// endpoints identify an association.
type endpoints struct {
	proto    string
	src, dst netip.AddrPort
}

// association is what goes between two endpoints without a connection.
type association struct {
	endpoints
	f     *flow
	relay *udpRelay // to an allowed host, or nil
}

// associations are those that one goroutine keeps.
type associations struct {
	s     *server
	known map[endpoints]*list.Element
	order *list.List // the one that moved last first
}

func (s *server) newAssociations() *associations {
	return &associations{s: s, known: map[endpoints]*list.Element{}, order: list.New()}
}

// get is the association of two endpoints, of which something arrived at a time;
// a new one is reported as begun.
func (as *associations) get(begun, proto string, src, dst netip.AddrPort, arrived time.Duration) *association {
	key := endpoints{proto, netip.AddrPortFrom(src.Addr().Unmap(), src.Port()), dst}
	e, ok := as.known[key]
	if !ok {
		if as.order.Len() >= maxUDP {
			as.drop(as.order.Back().Value.(*association))
		}
		e = as.order.PushFront(&association{endpoints: key, f: as.s.begin(begun, proto, key.src, dst, arrived)})
		as.known[key] = e
	}
	as.order.MoveToFront(e)
	a := e.Value.(*association)
	a.f.arrived.Store(int64(arrived))
	return a
}

// drop ends an association.
func (as *associations) drop(a *association) {
	as.order.Remove(as.known[a.endpoints])
	delete(as.known, a.endpoints)
	if a.relay != nil {
		close(a.relay.queue)
	}
	a.f.end()
}

func (as *associations) end() {
	for as.order.Len() > 0 {
		as.drop(as.order.Front().Value.(*association))
	}
}

// serveUDP records the datagrams of one family and answers those that are DNS, NTP or SSDP.
func (s *server) serveUDP(c *net.UDPConn) {
	buf, oob := make([]byte, 64<<10), make([]byte, 256)
	known := s.newAssociations()
	defer known.end()
	var dropped uint32
	for {
		n, on, _, src, err := c.ReadMsgUDPAddrPort(buf, oob)
		if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.loss("udp: "+err.Error(), 0)
			s.pause(drainIdle)
			continue
		}
		dst, drops, arrived := control(oob[:on])
		if drops != dropped {
			s.lost("the kernel dropped datagrams", 0, uint64(drops-dropped))
			dropped = drops
		}
		if !dst.IsValid() {
			s.loss("a datagram came without its destination", 0)
			continue
		}
		begun := TypeOpen
		if s.own(dst.Addr()) {
			begun = TypeRefused
		}
		s.datagram(known.get(begun, "udp", src, dst, arrived), buf[:n])
	}
}

func (s *server) datagram(a *association, p []byte) {
	f := a.f
	f.up.Add(int64(len(p)))
	switch {
	case a.dst.Port() == 443 && len(p) > 0 && p[0]&0xc0 == 0xc0:
		f.learn(func(e *Event) { e.App, e.Opaque = "quic", true })
	case a.dst.Port() == dnsPort:
		f.learn(func(e *Event) { e.App = "dns" })
	}
	f.wireStream().write(p)
	if f.known.Allowed {
		s.relayDatagram(a, p)
		return
	}
	if s.own(a.dst.Addr()) {
		return
	}
	if a.dst.Port() != dnsPort {
		s.serviceReply(a, p)
		return
	}
	out := s.answer(f, p, "dns", 4096)
	if out == nil {
		f.fail(trace.MalformedDNS)
		return
	}
	s.sendReply(a, a.dst, out)
}

// serviceReply answers a datagram as the service behind its port would.
func (s *server) serviceReply(a *association, p []byte) {
	if from, out := replyTo(a.dst, p, time.Now()); out != nil {
		s.sendReply(a, from, out)
	}
}

// sendReply sends an association's answer.
func (s *server) sendReply(a *association, from netip.AddrPort, out []byte) {
	if err := s.answerFrom(from, a.src, out); err != nil {
		a.f.fail("answer: " + err.Error())
		s.loss("a datagram could not be answered", a.f.id)
		return
	}
	a.f.down.Add(int64(len(out)))
}

// sendFrom sends a datagram from an address that is local like any other. The
// socket is not kept: the port is the target's to bind.
func sendFrom(from, to netip.AddrPort, p []byte) error {
	family, level, option := unix.AF_INET, unix.SOL_IP, unix.IP_FREEBIND
	if from.Addr().Is6() {
		family, level, option = unix.AF_INET6, unix.SOL_IPV6, unix.IPV6_FREEBIND
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err := unix.SetsockoptInt(fd, level, option, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(fd, sockaddr(from)); err != nil {
		return os.NewSyscallError("bind", err)
	}
	return os.NewSyscallError("sendto", unix.Sendto(fd, p, 0, sockaddr(to)))
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// control reads a datagram's original destination, the kernel's count of those it
// dropped, and when this one came: 0 where that is not known.
func control(oob []byte) (dst netip.AddrPort, drops uint32, arrived time.Duration) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return dst, 0, 0
	}
	for _, m := range messages {
		h, d := m.Header, m.Data
		switch {
		case h.Level == unix.SOL_IP && h.Type == unix.IP_ORIGDSTADDR && len(d) >= 8:
			dst = netip.AddrPortFrom(netip.AddrFrom4([4]byte(d[4:8])), binary.BigEndian.Uint16(d[2:]))
		case h.Level == unix.SOL_IPV6 && h.Type == unix.IPV6_ORIGDSTADDR && len(d) >= 24:
			dst = netip.AddrPortFrom(netip.AddrFrom16([16]byte(d[8:24])), binary.BigEndian.Uint16(d[2:]))
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(d) >= 4:
			drops = binary.NativeEndian.Uint32(d)
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPNS_OLD && len(d) >= 16:
			arrived = since(int64(binary.NativeEndian.Uint64(d)), int64(binary.NativeEndian.Uint64(d[8:])))
		}
	}
	return dst, drops, arrived
}

const (
	// maxWait is more than what was sent waits for its reader; an older stamp comes
	// from a clock that was set meanwhile.
	maxWait = time.Minute
	// clockDrift is how far the two clocks may drift apart before they are compared
	// anew, and clockNoise how long a comparison may take.
	clockDrift = 5 * time.Millisecond
	clockNoise = time.Millisecond
)

// clockOffset is by how much the run's clock is ahead of the wall clock, 0 for not
// known. It is kept, so that two stamps are in the order of their moments.
var clockOffset atomic.Int64

// since turns a moment of the kernel's wall clock into one of the run's.
func since(sec, nsec int64) time.Duration {
	var wall unix.Timespec
	before := now()
	if unix.ClockGettime(unix.CLOCK_REALTIME, &wall) != nil {
		return 0
	}
	after, offset := now(), before-time.Duration(wall.Nano())
	known := time.Duration(clockOffset.Load())
	if known != 0 && (after-before > clockNoise || (offset-known).Abs() < clockDrift) {
		offset = known
	} else {
		clockOffset.Store(int64(offset))
	}
	at := offset + time.Duration(sec)*time.Second + time.Duration(nsec)
	if waited := after - at; waited > -clockDrift && waited < maxWait {
		return min(at, after)
	}
	return 0
}
