package sinkhole

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// packet is one of IP, as far as it tells the sender, the receiver and the payload.
type packet struct {
	proto    string // tcp, udp, icmp, or ip- and a number
	src, dst netip.AddrPort
	payload  []byte // after the last header
}

// The protocols above IP that have a name here.
const (
	protoICMP   = 1
	protoTCP    = 6
	protoUDP    = 17
	protoICMPv6 = 58
)

// parsePacket reads a packet that begins with its IP header. What it says of its
// own length is not believed beyond the bytes there are.
func parsePacket(b []byte) (p packet, ok bool) {
	if len(b) < 20 {
		return p, false
	}
	var src, dst netip.Addr
	var proto byte
	switch b[0] >> 4 {
	case 4:
		size := int(b[0]&15) * 4
		if size < 20 || size > len(b) {
			return p, false
		}
		src, dst, proto = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20])), b[9]
		b = b[size:]
	case 6:
		if len(b) < 40 {
			return p, false
		}
		src, dst = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
		if proto, b, ok = skipExtensions(b[6], b[40:]); !ok {
			return p, false
		}
	default:
		return p, false
	}
	p.above(proto, b, src, dst)
	return p, true
}

// skipExtensions finds the protocol behind IPv6's extension headers.
func skipExtensions(next byte, b []byte) (byte, []byte, bool) {
	for next == 0 || next == 43 || next == 60 || next == 44 {
		if len(b) < 8 {
			return 0, nil, false
		}
		size := 8
		if next != 44 {
			size += int(b[1]) * 8
		}
		if size > len(b) {
			return 0, nil, false
		}
		next, b = b[0], b[size:]
	}
	return next, b, true
}

// above reads the header above IP.
func (p *packet) above(proto byte, b []byte, src, dst netip.Addr) {
	var from, to uint16
	size := 0
	switch {
	case proto == protoTCP && len(b) >= 20:
		p.proto, size = "tcp", min(max(int(b[12]>>4)*4, 20), len(b))
		from, to = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	case proto == protoUDP && len(b) >= 8:
		p.proto, size = "udp", 8
		from, to = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	case (proto == protoICMP || proto == protoICMPv6) && len(b) >= 8:
		p.proto, size = "icmp", 8
	case proto == protoICMP || proto == protoICMPv6:
		p.proto = "icmp"
	default:
		p.proto = "ip-" + strconv.Itoa(int(proto))
	}
	p.src, p.dst, p.payload = netip.AddrPortFrom(src, from), netip.AddrPortFrom(dst, to), b[size:]
}
