//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// network tries to change where packets go, and to send them past the routes.
func (a *attempts) network() {
	a.try("route-netlink", addRoute)
	a.try("route-ioctl", func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer shut(fd)
		// struct rtentry: destination, gateway and mask are addresses at 8, 24 and 40.
		var entry [120]byte
		for _, at := range []int{8, 24, 40} {
			binary.NativeEndian.PutUint16(entry[at:], unix.AF_INET)
		}
		binary.NativeEndian.PutUint16(entry[56:], unix.RTF_UP)
		return raw(unix.SYS_IOCTL, uintptr(fd), unix.SIOCADDRT, uintptr(unsafe.Pointer(&entry)))
	})
	a.try("raw-socket", func() error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW) })
	a.try("packet-socket", func() error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) })
	a.try("transparent", func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer shut(fd)
		return unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_TRANSPARENT, 1)
	})
}

func socket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// addRoute asks for 203.0.113.0/24 to go through the first interface.
func addRoute() error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer shut(fd)
	const size = unix.SizeofNlMsghdr + unix.SizeofRtMsg + 8 + 8
	var msg [size]byte
	n := binary.NativeEndian
	n.PutUint32(msg[0:], size)
	n.PutUint16(msg[4:], unix.RTM_NEWROUTE)
	n.PutUint16(msg[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	rt := msg[unix.SizeofNlMsghdr:]
	rt[0], rt[1] = unix.AF_INET, 24
	rt[4], rt[5], rt[6], rt[7] = unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, unix.RT_SCOPE_LINK, unix.RTN_UNICAST
	attrs := rt[unix.SizeofRtMsg:]
	n.PutUint16(attrs[0:], 8)
	n.PutUint16(attrs[2:], unix.RTA_DST)
	copy(attrs[4:], []byte{203, 0, 113, 0})
	n.PutUint16(attrs[8:], 8)
	n.PutUint16(attrs[10:], unix.RTA_OIF)
	n.PutUint32(attrs[12:], 1)
	if err := unix.Sendto(fd, msg[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	got, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	if got < unix.SizeofNlMsghdr+4 || n.Uint16(answer[4:]) != unix.NLMSG_ERROR {
		return fmt.Errorf("an answer of %d bytes", got)
	}
	if code := int32(n.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
