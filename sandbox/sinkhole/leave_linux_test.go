//go:build linux && e2e

package sinkhole

import (
	"bytes"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// peer is the other end of a veth, in a namespace of its own, where every
// arriving frame is kept.
type peer struct {
	mu     sync.Mutex
	frames [][]byte
	more   chan struct{}
	mac    net.HardwareAddr
}

var (
	nearFour = [4]byte{10, 99, 0, 1}
	farFour  = [4]byte{10, 99, 0, 2}
	nearSix  = [16]byte{0xfd, 0x99, 15: 1}
	farSix   = [16]byte{0xfd, 0x99, 15: 2}
)

const (
	nearName = "veth0"
	farName  = "veth1"
)

func configure(name string, four [4]byte, six [16]byte) (netlink.Link, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, err
	}
	for _, n := range []*net.IPNet{{IP: four[:], Mask: net.CIDRMask(24, 32)}, {IP: six[:], Mask: net.CIDRMask(64, 128)}} {
		if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: n, Flags: unix.IFA_F_NODAD}); err != nil {
			return nil, err
		}
	}
	return link, netlink.LinkSetUp(link)
}

// newPeer makes the veth and listens at its far end until the test ends.
func newPeer(t *testing.T) (*peer, netlink.Link) {
	t.Helper()
	p := &peer{more: make(chan struct{}, 1)}
	ns, made, ready := make(chan int), make(chan struct{}), make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlock it: the thread stays in its namespace
		defer close(ready)
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Error(err)
			close(ns)
			return
		}
		fd, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Error(err)
		}
		ns <- fd
		<-made
		link, err := configure(farName, farFour, farSix)
		if err != nil {
			t.Error(err)
			return
		}
		p.mac = link.Attrs().HardwareAddr
		const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8
		s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all)
		if err == nil {
			err = unix.Bind(s, &unix.SockaddrLinklayer{Protocol: all, Ifindex: link.Attrs().Index})
		}
		if err != nil {
			t.Error(err)
			return
		}
		ready <- s
	}()
	fd, ok := <-ns
	if !ok {
		t.FailNow()
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = nearName
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: farName, PeerNamespace: netlink.NsFd(fd)}); err != nil {
		t.Fatal(err)
	}
	close(made)
	s, ok := <-ready
	if !ok {
		t.FailNow()
	}
	_ = unix.Close(fd)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.listen(s)
	}()
	t.Cleanup(func() {
		_ = unix.Shutdown(s, unix.SHUT_RDWR)
		_ = unix.Close(s)
	})
	near, err := configure(nearName, nearFour, nearSix)
	if err != nil {
		t.Fatal(err)
	}
	return p, near
}

func (p *peer) listen(s int) {
	b := make([]byte, 64<<10)
	for {
		n, from, err := unix.Recvfrom(s, b, 0)
		if err != nil {
			return
		}
		if l, ok := from.(*unix.SockaddrLinklayer); !ok || l.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		p.mu.Lock()
		p.frames = append(p.frames, slices.Clone(b[:n]))
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
	}
}

// got are the attempts whose marks arrived.
func (p *peer) got() (marks []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frames {
		if _, rest, found := bytes.Cut(f, []byte("<mark ")); found {
			mark, _, _ := strings.Cut(string(rest), ">")
			marks = append(marks, mark)
		}
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

func (p *peer) wait(t *testing.T, mark string) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for !slices.Contains(p.got(), mark) {
		select {
		case <-p.more:
		case <-limit:
			t.Fatalf("%s did not arrive; %v did", mark, p.got())
		}
	}
}

// attempt is a way out that needs no route.
type attempt struct {
	name          string
	family, proto int
	typ           int
	prepare       func(fd int) error
	control       []byte
	to            unix.Sockaddr
}

func option(level, name, value int) func(int) error {
	return func(fd int) error { return unix.SetsockoptInt(fd, level, name, value) }
}

// attempts are all those that one with every capability but that of setting up
// interfaces can make.
func attempts(index int, mac net.HardwareAddr) []attempt {
	device := func(fd int) error { return unix.BindToDevice(fd, nearName) }
	both := func(a, b func(int) error) func(int) error {
		return func(fd int) error {
			if err := a(fd); err != nil {
				return err
			}
			return b(fd)
		}
	}
	four := func(a ...byte) unix.Sockaddr { return &unix.SockaddrInet4{Port: 9, Addr: [4]byte(a)} }
	six := func(a [16]byte, zone int) unix.Sockaddr {
		return &unix.SockaddrInet6{Port: 9, Addr: a, ZoneId: uint32(zone)}
	}
	swapped := int(uint32(index)<<24 | uint32(index)>>24) // in network order
	group := option(unix.SOL_IPV6, unix.IPV6_MULTICAST_IF, index)
	var frame unix.SockaddrLinklayer
	frame.Ifindex, frame.Halen, frame.Protocol = index, 6, unix.ETH_P_IP>>8|unix.ETH_P_IP<<8&0xff00
	copy(frame.Addr[:], mac)
	dgram, raw := unix.SOCK_DGRAM, unix.SOCK_RAW
	allNodes := [16]byte{0xff, 2, 15: 1}
	return []attempt{
		{"plain", unix.AF_INET, 0, dgram, nil, nil, four(farFour[:]...)},
		{"plain 6", unix.AF_INET6, 0, dgram, nil, nil, six(farSix, 0)},
		{"SO_BINDTODEVICE", unix.AF_INET, 0, dgram, device, nil, four(farFour[:]...)},
		{"SO_BINDTODEVICE 6", unix.AF_INET6, 0, dgram, device, nil, six(farSix, 0)},
		{"broadcast of the network", unix.AF_INET, 0, dgram, both(device, option(unix.SOL_SOCKET, unix.SO_BROADCAST, 1)), nil, four(10, 99, 0, 255)},
		{"IP_PKTINFO", unix.AF_INET, 0, dgram, nil, unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: int32(index)}), four(farFour[:]...)},
		{"IPV6_PKTINFO", unix.AF_INET6, 0, dgram, nil, unix.PktInfo6(&unix.Inet6Pktinfo{Ifindex: uint32(index)}), six(farSix, 0)},
		{"IP_UNICAST_IF", unix.AF_INET, 0, dgram, option(unix.SOL_IP, unix.IP_UNICAST_IF, swapped), nil, four(farFour[:]...)},
		{"IPV6_UNICAST_IF", unix.AF_INET6, 0, dgram, option(unix.SOL_IPV6, unix.IPV6_UNICAST_IF, swapped), nil, six(farSix, 0)},
		{"multicast", unix.AF_INET, 0, dgram, func(fd int) error {
			return unix.SetsockoptIPMreqn(fd, unix.SOL_IP, unix.IP_MULTICAST_IF, &unix.IPMreqn{Ifindex: int32(index)})
		}, nil, four(224, 0, 0, 251)},
		{"multicast 6", unix.AF_INET6, 0, dgram, group, nil, six([16]byte{0xff, 2, 15: 0xfb}, index)},
		{"ff02::1", unix.AF_INET6, 0, dgram, group, nil, six(allNodes, index)},
		{"broadcast", unix.AF_INET, 0, dgram, both(device, option(unix.SOL_SOCKET, unix.SO_BROADCAST, 1)), nil, four(255, 255, 255, 255)},
		{"raw", unix.AF_INET, 253, raw, device, nil, four(farFour[:]...)},
		{"raw 6", unix.AF_INET6, 253, raw, device, nil, &unix.SockaddrInet6{Addr: farSix}},
		{"packet", unix.AF_PACKET, 0, dgram, nil, nil, &frame},
	}
}

// make sends the attempt's mark.
func (a attempt) make(prefix string) error {
	fd, err := unix.Socket(a.family, a.typ|unix.SOCK_CLOEXEC, a.proto)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if a.prepare != nil {
		if err := a.prepare(fd); err != nil {
			return err
		}
	}
	return unix.Sendmsg(fd, []byte("<mark "+prefix+a.name+">"), a.control, a.to, 0)
}

func TestNothingLeaves(t *testing.T) {
	if !inside(t) {
		return
	}
	p, near := newPeer(t)
	index := near.Attrs().Index
	// While the interface is up all of them arrive: the listener is one.
	ways := attempts(index, p.mac)
	for _, a := range ways {
		for deadline := now() + 5*time.Second; ; runtime.Gosched() { // the kernel sets a link up bit by bit
			if err := a.make("before: "); err == nil {
				break
			} else if now() > deadline {
				t.Fatalf("%s: %v", a.name, err)
			}
		}
		p.wait(t, "before: "+a.name)
	}
	if s, err := Arm(Config{}); err == nil || !strings.Contains(err.Error(), nearName) {
		t.Fatalf("armed beside an interface that is up: %v %v", s, err)
	}
	if err := netlink.LinkSetDown(near); err != nil {
		t.Fatal(err)
	}
	j := arm(t, Config{})
	for _, a := range ways {
		t.Logf("%s: %v", a.name, a.make("after: "))
	}
	tcp, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(tcp) }()
	t.Logf("TCP bound to the interface: %v, %v", unix.BindToDevice(tcp, nearName), unix.Connect(tcp, &unix.SockaddrInet4{Port: 80, Addr: farFour}))
	// What names no interface is the sinkhole's, whatever network it is of.
	j.wait(t, "the plain one", func(e Event) bool { return string(e.Data) == "<mark after: plain>" })
	// What was sent before a frame arrives before it.
	if err := netlink.LinkSetUp(near); err != nil {
		t.Fatal(err)
	}
	var last attempt
	for _, a := range ways {
		if a.name == "packet" {
			last = a
		}
	}
	for last.make("end: ") != nil { // until the link is ready
		runtime.Gosched()
	}
	p.wait(t, "end: packet")
	for _, mark := range p.got() {
		if strings.HasPrefix(mark, "after: ") {
			t.Errorf("%s left", mark)
		}
	}
}
