package sinkhole

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openRaw opens a socket by which whole packets of a family can be sent. It
// receives none, being of no protocol that is spoken.
func openRaw(family int) (*os.File, error) {
	fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_RAW)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	return os.NewFile(uintptr(fd), "replies"), nil
}

// firstFree is the lowest port that needs no privilege.
const firstFree = 1024

// plainPort is what an ordinary listener answers for, of one family.
type plainPort struct {
	six  bool
	port uint16
}

// plain are the ordinary listeners among the datagram sockets.
func (g *sockets) plain() map[plainPort]*net.UDPConn {
	found := map[plainPort]*net.UDPConn{}
	for _, c := range g.datagrams {
		if a := c.LocalAddr().(*net.UDPAddr).AddrPort(); a.Addr().IsUnspecified() {
			found[plainPort{a.Addr().Is6(), a.Port()}] = c
		}
	}
	return found
}

// answerFrom sends a datagram from an address that is local like any other.
func (s *server) answerFrom(from, to netip.AddrPort, p []byte) error {
	// A socket of its own on the same port would get the next question.
	if c := s.plain[plainPort{from.Addr().Is6(), from.Port()}]; c != nil {
		source := unix.PktInfo6(&unix.Inet6Pktinfo{Addr: from.Addr().As16()})
		if from.Addr().Is4() {
			source = unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: from.Addr().As4()})
		}
		_, _, err := c.WriteMsgUDPAddrPort(p, source, to)
		return err
	}
	f := s.raw4
	if from.Addr().Is6() {
		f = s.raw6
	}
	if f == nil || from.Port() >= firstFree {
		return sendFrom(from, to, p)
	}
	packet := datagramPacket(from, to, p)
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.Sendto(int(fd), packet, 0, sockaddr(netip.AddrPortFrom(to.Addr(), 0)))
	})
	return errors.Join(err, os.NewSyscallError("sendto", failed))
}

// datagramPacket is a datagram with the headers of UDP and of IP.
func datagramPacket(from, to netip.AddrPort, p []byte) []byte {
	size := uint16(8 + len(p))
	b := make([]byte, 0, 48+len(p))
	if from.Addr().Is4() {
		b = append(b, 0x45, 0)
		b = binary.BigEndian.AppendUint16(b, 20+size)
		b = append(b, 0, 0, 0x40, 0, 64, protoUDP, 0, 0) // the kernel fills in the checksum
	} else {
		b = append(b, 0x60, 0, 0, 0)
		b = binary.BigEndian.AppendUint16(b, size)
		b = append(b, protoUDP, 64)
	}
	b = append(append(b, from.Addr().AsSlice()...), to.Addr().AsSlice()...)
	header := len(b)
	b = binary.BigEndian.AppendUint16(b, from.Port())
	b = binary.BigEndian.AppendUint16(b, to.Port())
	b = binary.BigEndian.AppendUint16(b, size)
	b = append(append(b, 0, 0), p...)
	sum := uint32(protoUDP) + uint32(size)
	for _, part := range [][]byte{from.Addr().AsSlice(), to.Addr().AsSlice(), b[header:]} {
		for len(part) > 1 {
			sum += uint32(binary.BigEndian.Uint16(part))
			part = part[2:]
		}
		if len(part) == 1 {
			sum += uint32(part[0]) << 8
		}
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	check := ^uint16(sum)
	if check == 0 { // which would mean none
		check = 0xffff
	}
	binary.BigEndian.PutUint16(b[header+6:], check)
	return b
}

// keep makes another file of a raw socket.
func (g *sockets) keep(domain int, raw syscall.RawConn) error {
	f, err := duplicate(raw)
	if err != nil {
		return err
	}
	if domain == unix.AF_INET6 {
		g.raw6 = f
	} else {
		g.raw4 = f
	}
	return nil
}
