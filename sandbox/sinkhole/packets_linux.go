package sinkhole

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// logGroup is the group of NFLOG that packets are copied to.
const logGroup = 5

// From linux/netfilter/nfnetlink_log.h, which the kernel promises to keep.
const (
	msgPacket = unix.NFNL_SUBSYS_ULOG << 8
	msgConfig = unix.NFNL_SUBSYS_ULOG<<8 | 1

	cfgCommand, cfgMode, cfgTimeout, cfgThreshold, cfgFlags = 1, 2, 4, 5, 6

	commandBind = 1
	copyPacket  = 2
	flagSeq     = 1

	attrPayload, attrSeq = 9, 12
)

// listenPackets opens the socket that logGroup's packets come by. Setting it up
// needs CAP_NET_ADMIN, reading from it none.
func listenPackets() (*os.File, error) {
	s, err := nl.Subscribe(unix.NETLINK_NETFILTER)
	if err != nil {
		return nil, fmt.Errorf("open nfnetlink: %w", err)
	}
	defer s.Close()
	be32 := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	for _, a := range []*nl.RtAttr{
		nl.NewRtAttr(cfgCommand, []byte{commandBind}),
		nl.NewRtAttr(cfgMode, append(be32(0xffff), copyPacket, 0)),
		nl.NewRtAttr(cfgThreshold, be32(1)), // each packet at once
		nl.NewRtAttr(cfgTimeout, be32(1)),
		nl.NewRtAttr(cfgFlags, binary.BigEndian.AppendUint16(nil, flagSeq)),
	} {
		req := nl.NewNetlinkRequest(msgConfig, unix.NLM_F_ACK)
		req.AddData(&nl.Nfgenmsg{NfgenFamily: unix.AF_UNSPEC, Version: nl.NFNETLINK_V0, ResId: nl.Swap16(logGroup)})
		req.AddData(a)
		if err := s.Send(req); err != nil {
			return nil, fmt.Errorf("ask for packets: %w", err)
		}
		if err := acknowledged(s); err != nil {
			return nil, fmt.Errorf("ask for packets: %w", err)
		}
	}
	fd, err := unix.FcntlInt(uintptr(s.GetFd()), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, udpBuffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, udpBuffer)
	}
	return os.NewFile(uintptr(fd), "packets"), nil
}

// acknowledged reads the kernel's word on a request.
func acknowledged(s *nl.NetlinkSocket) error {
	messages, _, err := s.Receive()
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.Header.Type == unix.NLMSG_ERROR && len(m.Data) >= 4 {
			if code := int32(binary.NativeEndian.Uint32(m.Data)); code != 0 {
				return syscall.Errno(-code)
			}
		}
	}
	return nil
}

// servePackets records what never reached a listener: what was refused, and
// what is neither TCP nor UDP.
func (s *server) servePackets(f *os.File) {
	known := s.newAssociations()
	defer known.end()
	raw, err := f.SyscallConn()
	if err != nil {
		s.loss("refused connections: "+err.Error(), 0)
		return
	}
	b := make([]byte, 128<<10)
	var next uint32
	for {
		n, failed := 0, error(nil)
		err := raw.Read(func(fd uintptr) bool {
			n, _, failed = unix.Recvfrom(int(fd), b, 0)
			return !errors.Is(failed, unix.EAGAIN)
		})
		switch {
		case err != nil: // closed
			return
		case errors.Is(failed, unix.EINTR):
		case failed != nil: // ENOBUFS: the gap in the numbers says how many
			s.loss("packets that were refused or are neither TCP nor UDP: "+failed.Error(), 0)
		default:
			next = s.packets(known, b[:n], next)
		}
	}
}

// packets records the packets of one datagram from the kernel. Each has a
// number; next is the one that is due.
func (s *server) packets(known *associations, b []byte, next uint32) uint32 {
	messages, err := syscall.ParseNetlinkMessage(b)
	if err != nil {
		s.loss("a packet's copy: "+err.Error(), 0)
		return next
	}
	for _, m := range messages {
		if m.Header.Type != msgPacket || len(m.Data) < nl.SizeofNfgenmsg {
			continue
		}
		attrs, err := nl.ParseRouteAttrAsMap(m.Data[nl.SizeofNfgenmsg:])
		if err != nil {
			s.loss("a packet's copy: "+err.Error(), 0)
			continue
		}
		if v := attrs[attrSeq].Value; len(v) == 4 {
			seq := binary.BigEndian.Uint32(v)
			s.lost("the kernel dropped copies of packets that were refused or are neither TCP nor UDP", 0, uint64(seq-next))
			next = seq + 1
		}
		if p, ok := parsePacket(attrs[attrPayload].Value); ok {
			s.packet(known, p)
		} else {
			s.loss("a packet that is not one of IP", 0)
		}
	}
	return next
}

// packet records one.
func (s *server) packet(known *associations, p packet) {
	as := TypeRefused
	if p.proto != "tcp" && p.proto != "udp" || p.dst.Addr().IsMulticast() {
		as = TypeOpen
	}
	a := known.get(as, p.proto, p.src, p.dst, 0)
	a.f.up.Add(int64(len(p.payload)))
	a.f.wireStream().write(p.payload)
	switch {
	case p.proto == "tcp":
		known.drop(a)
	case p.proto == "udp" && as == TypeOpen: // nobody listens to a group, and a device of the network would answer
		s.serviceReply(a, p.payload)
	}
}
