//go:build linux

package main

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/testdata/servers/stdio"
)

// farFour and farSix are where a test's own peer listens, if any does.
var (
	farFour = [4]byte{10, 99, 0, 2}
	farSix  = [16]byte{0xfd, 0x99, 15: 2}
)

func leaveTool(s *stdio.Server) {
	s.Tools = tools("leave")
	s.Call = func(string, map[string]any) (string, error) {
		if err := unconnected(); err != nil {
			return "", err
		}
		told := ""
		for _, i := range devices() {
			for _, w := range waysOut(i) {
				told += fmt.Sprintf("%s by %s: %v\n", w.name, i.Name, w.send(i.Name))
			}
		}
		return told, nil
	}
}

// devices are the interfaces, and what one would likely be.
func devices() []net.Interface {
	all, _ := net.Interfaces()
	return append(all, net.Interface{Name: "eth0", Index: 2}, net.Interface{Name: "veth0", Index: 3})
}

// wayOut is an attempt to send a datagram past the routes.
type wayOut struct {
	name               string
	family, typ, proto int
	prepare            func(fd int) error
	control            []byte
	to                 unix.Sockaddr
}

func option(level, name, value int) func(int) error {
	return func(fd int) error { return unix.SetsockoptInt(fd, level, name, value) }
}

func waysOut(i net.Interface) []wayOut {
	device := func(fd int) error { return unix.BindToDevice(fd, i.Name) }
	broadcast := func(fd int) error {
		_ = device(fd)
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BROADCAST, 1)
	}
	four := func(a ...byte) unix.Sockaddr { return &unix.SockaddrInet4{Port: 9, Addr: [4]byte(a)} }
	six := func(a [16]byte, zone int) unix.Sockaddr {
		return &unix.SockaddrInet6{Port: 9, Addr: a, ZoneId: uint32(zone)}
	}
	index, dgram := i.Index, unix.SOCK_DGRAM
	swapped := int(uint32(index)<<24 | uint32(index)>>24) // in network order
	group := option(unix.SOL_IPV6, unix.IPV6_MULTICAST_IF, index)
	frame := &unix.SockaddrLinklayer{Ifindex: index, Halen: 6, Protocol: unix.ETH_P_IP>>8 | unix.ETH_P_IP<<8&0xff00}
	copy(frame.Addr[:], []byte{255, 255, 255, 255, 255, 255})
	return []wayOut{
		{"plain", unix.AF_INET, dgram, 0, nil, nil, four(farFour[:]...)},
		{"plain 6", unix.AF_INET6, dgram, 0, nil, nil, six(farSix, 0)},
		{"SO_BINDTODEVICE", unix.AF_INET, dgram, 0, device, nil, four(farFour[:]...)},
		{"SO_BINDTODEVICE 6", unix.AF_INET6, dgram, 0, device, nil, six(farSix, 0)},
		{"IP_PKTINFO", unix.AF_INET, dgram, 0, nil, unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: int32(index)}), four(farFour[:]...)},
		{"IPV6_PKTINFO", unix.AF_INET6, dgram, 0, nil, unix.PktInfo6(&unix.Inet6Pktinfo{Ifindex: uint32(index)}), six(farSix, 0)},
		{"IP_UNICAST_IF", unix.AF_INET, dgram, 0, option(unix.SOL_IP, unix.IP_UNICAST_IF, swapped), nil, four(farFour[:]...)},
		{"IPV6_UNICAST_IF", unix.AF_INET6, dgram, 0, option(unix.SOL_IPV6, unix.IPV6_UNICAST_IF, swapped), nil, six(farSix, 0)},
		{"multicast", unix.AF_INET, dgram, 0, func(fd int) error {
			return unix.SetsockoptIPMreqn(fd, unix.SOL_IP, unix.IP_MULTICAST_IF, &unix.IPMreqn{Ifindex: int32(index)})
		}, nil, four(224, 0, 0, 251)},
		{"multicast 6", unix.AF_INET6, dgram, 0, group, nil, six([16]byte{0xff, 2, 15: 0xfb}, index)},
		{"ff02::1", unix.AF_INET6, dgram, 0, group, nil, six([16]byte{0xff, 2, 15: 1}, index)},
		{"broadcast", unix.AF_INET, dgram, 0, broadcast, nil, four(255, 255, 255, 255)},
		{"broadcast of the network", unix.AF_INET, dgram, 0, broadcast, nil, four(10, 99, 0, 255)},
		{"ping", unix.AF_INET, dgram, unix.IPPROTO_ICMP, device, nil, four(farFour[:]...)},
		{"raw", unix.AF_INET, unix.SOCK_RAW, 253, device, nil, four(farFour[:]...)},
		{"raw 6", unix.AF_INET6, unix.SOCK_RAW, 253, device, nil, &unix.SockaddrInet6{Addr: farSix}},
		{"packet", unix.AF_PACKET, dgram, 0, nil, nil, frame},
	}
}

// send sends the attempt's mark. That an option is refused does not end it: what
// then goes by the routes is an attempt too.
func (w wayOut) send(device string) error {
	fd, err := unix.Socket(w.family, w.typ|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, w.proto)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer shut(fd)
	if w.prepare != nil {
		_ = w.prepare(fd)
	}
	text := "<mark " + w.name + " by " + device + ">"
	if w.proto == unix.IPPROTO_ICMP {
		text = "\x08\x00\x00\x00\x00\x00\x00\x00" + text
	}
	return unix.Sendmsg(fd, []byte(text), w.control, w.to, 0)
}
