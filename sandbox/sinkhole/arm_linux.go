package sinkhole

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Sinkhole is an armed namespace.
type Sinkhole struct {
	// Files are the listeners, for Serve, in any order.
	Files []*os.File
	// IPv6 says whether that family is diverted too; where it is not, it has no
	// address but ::1 and no route.
	IPv6 bool
	// Notes say what could not be had, and what that means.
	Notes []string
	// Partial says that a connection or a packet may go unseen: see Notes.
	Partial bool
}

// Close closes the files. The namespace stays as it is.
func (s *Sinkhole) Close() error {
	var errs []error
	for _, f := range s.Files {
		errs = append(errs, f.Close())
	}
	s.Files = nil
	return errors.Join(errs...)
}

// Arm makes the calling thread's network namespace a sinkhole. Whoever calls it
// has CAP_NET_ADMIN there, and needs it no more afterwards. Where an interface
// but lo is up it fails: a packet that names its interface needs no route. Then it brings
// up the Config's Interface, which by the caller's word leads nowhere.
func Arm(c Config) (*Sinkhole, error) { return armBy(&c, divert) }

// armBy is Arm with a way to divert packets.
func armBy(c *Config, divert diverter) (*Sinkhole, error) {
	if err := checkIsolated(); err != nil {
		return nil, err
	}
	s := &Sinkhole{}
	if err := enableIPv6(); err != nil {
		s.Notes = append(s.Notes, "IPv6 is off and cannot be turned on: "+err.Error())
	} else {
		s.IPv6 = true
	}
	if err := routes(c, s.IPv6); err != nil {
		return nil, err
	}
	four, six := drawListeners()
	opened := []struct {
		typ  int
		addr netip.AddrPort
	}{{unix.SOCK_STREAM, four}, {unix.SOCK_DGRAM, four}, {unix.SOCK_STREAM, six}, {unix.SOCK_DGRAM, six}}
	if !s.IPv6 {
		opened = opened[:2]
	}
	for _, o := range opened {
		f, err := listen(o.typ, o.addr)
		if err != nil {
			_ = s.Close()
			return nil, fmt.Errorf("listen on %s: %w", o.addr, err)
		}
		s.Files = append(s.Files, f)
	}
	if err := s.divert(c, four, six, divert); err != nil {
		if err := s.listenPlain(c.Mode, err); err != nil {
			return nil, err
		}
	}
	// Answers come from the port that was asked, so from port 53.
	if err := writeSysctl("ipv4/ip_unprivileged_port_start", "0"); err != nil {
		s.rawReplies(err)
	}
	return s, nil
}

// diverter is divert, or what a test has in its place.
type diverter func(c *Config, four, six netip.AddrPort, ipv6, logged bool) error

// checkIsolated fails if an interface but the loopback is up.
func checkIsolated() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list the network interfaces: %w", err)
	}
	for _, i := range interfaces {
		if i.Flags&(net.FlagLoopback|net.FlagUp) == net.FlagUp {
			return fmt.Errorf("the network interface %s is up, and leads out: take it down first", i.Name)
		}
	}
	return nil
}

// rawReplies opens what Serve answers from low ports by, where binding to one
// takes a capability that it will not have.
func (s *Sinkhole) rawReplies(why error) {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		if family == unix.AF_INET6 && !s.IPv6 {
			continue
		}
		f, err := openRaw(family)
		if err != nil {
			s.Notes = append(s.Notes, "datagrams to ports below 1024, DNS among them, may get no answer: "+errors.Join(why, err).Error())
			return
		}
		s.Files = append(s.Files, f)
	}
}

// divert makes the rules, and has packets copied where the kernel can do that.
func (s *Sinkhole) divert(c *Config, four, six netip.AddrPort, divert diverter) error {
	packets, err := listenPackets()
	if err == nil {
		if err = divert(c, four, six, s.IPv6, true); err == nil {
			s.Files = append(s.Files, packets)
			return nil
		}
		_ = packets.Close()
	}
	if without := divert(c, four, six, s.IPv6, false); without != nil {
		return without
	}
	s.Notes = append(s.Notes, "what is refused, and what is neither TCP nor UDP, is not seen: "+err.Error())
	s.Partial = true
	return nil
}

// drawListeners draws where the listeners are bound: an address of their own and
// a port, so that they take no port of 127.0.0.1 away.
func drawListeners() (four, six netip.AddrPort) {
	var b [16]byte
	_, _ = rand.Read(b[:])
	port := 20000 + binary.BigEndian.Uint16(b[14:])%12000
	v4 := netip.AddrFrom4([4]byte{127, 64 | b[0]&63, b[1], 1 + b[2]%254})
	b[0] = 0xfd
	return netip.AddrPortFrom(v4, port), netip.AddrPortFrom(netip.AddrFrom16(b), port)
}

func writeSysctl(name, value string) error {
	path := "/proc/sys/net/" + name
	if now, err := os.ReadFile(path); err == nil && string(now) == value+"\n" {
		return nil
	}
	return os.WriteFile(path, []byte(value), 0)
}

func enableIPv6() error {
	if _, err := os.Stat("/proc/sys/net/ipv6"); err != nil {
		return fmt.Errorf("the kernel has no IPv6: %w", err)
	}
	for _, k := range []string{"all", "default", "lo"} {
		if err := writeSysctl("ipv6/conf/"+k+"/disable_ipv6", "0"); err != nil {
			return err
		}
	}
	return nil
}

// routes brings lo and the interface up, gives the namespace its own addresses, and makes
// every address local.
func routes(c *Config, ipv6 bool) error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find lo: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	at, err := outward(c, lo)
	if err != nil {
		return err
	}
	both := c.own()
	own := both[:1]
	if ipv6 {
		own = both[:]
	}
	for _, a := range own {
		if err := assign(at, a, at != lo); err != nil {
			return err
		}
		if err := makeLocal(lo, a, 0); err != nil {
			return err
		}
	}
	if at == lo {
		return nil
	}
	// Without rules of its own the kernel of Linux 4 and later searches the tables of IPv4
	// as one: the network's own route would win over that of all addresses.
	if err := makeLocal(lo, own[0], networkBits); err != nil {
		return err
	}
	// It is never taken: the table of local addresses comes before it.
	err = netlink.RouteReplace(&netlink.Route{LinkIndex: at.Attrs().Index, Gw: Nameserver.AsSlice(), Protocol: unix.RTPROT_DHCP, Src: own[0].AsSlice()})
	if err != nil {
		return fmt.Errorf("name a gateway: %w", err)
	}
	return nil
}

// networkBits is the length of the prefix of the network of IPv4 that the namespace seems
// to be in.
const networkBits = 24

// makeLocal makes the addresses around one, as far as they share bits, local.
func makeLocal(lo netlink.Link, a netip.Addr, bits int) error {
	around, err := a.Prefix(bits)
	if err != nil {
		return err
	}
	route := &netlink.Route{
		LinkIndex: lo.Attrs().Index, Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL, Protocol: unix.RTPROT_STATIC,
		Dst: &net.IPNet{IP: around.Addr().AsSlice(), Mask: net.CIDRMask(bits, a.BitLen())}, Src: a.AsSlice(),
	}
	if a.Is4() {
		route.Scope = netlink.SCOPE_HOST
	}
	if err := netlink.RouteReplace(route); err != nil {
		return fmt.Errorf("make %s local: %w", route.Dst, err)
	}
	return nil
}

// outward is the Config's interface, brought up, or else lo.
func outward(c *Config, lo netlink.Link) (netlink.Link, error) {
	if c.Interface == "" {
		return lo, nil
	}
	l, err := netlink.LinkByName(c.Interface)
	if err == nil {
		// No router answers, and nobody else has the addresses.
		_ = writeSysctl("ipv6/conf/"+c.Interface+"/accept_ra", "0")
		_ = writeSysctl("ipv6/conf/"+c.Interface+"/accept_dad", "0")
		err = netlink.LinkSetUp(l)
	}
	if err != nil {
		return nil, fmt.Errorf("bring up %s: %w", c.Interface, err)
	}
	return l, nil
}

// assign gives an interface an address, alone or in the network around it.
func assign(at netlink.Link, a netip.Addr, network bool) error {
	bits := a.BitLen()
	if network {
		bits = map[int]int{32: networkBits, 128: 64}[bits]
	}
	host := &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(bits, a.BitLen())}
	err := netlink.AddrAdd(at, &netlink.Addr{IPNet: host, Flags: unix.IFA_F_NODAD, Scope: unix.RT_SCOPE_UNIVERSE})
	if err != nil && !errors.Is(err, syscall.EEXIST) {
		return fmt.Errorf("give %s the address %s: %w", at.Attrs().Name, a, err)
	}
	return nil
}

// udpBuffer is what the kernel holds of datagrams while Serve is busy.
const udpBuffer = 4 << 20

// listen opens a transparent listener: one to which packets for any address can
// be diverted. It is by this option alone that privilege is needed.
func listen(typ int, addr netip.AddrPort) (*os.File, error) {
	family, level := unix.AF_INET, unix.SOL_IP
	options := []int{unix.IP_TRANSPARENT, unix.IP_FREEBIND}
	original := unix.IP_RECVORIGDSTADDR
	if addr.Addr().Is6() {
		family, level = unix.AF_INET6, unix.SOL_IPV6
		options = []int{unix.IPV6_TRANSPARENT, unix.IPV6_FREEBIND, unix.IPV6_V6ONLY}
		original = unix.IPV6_RECVORIGDSTADDR

	}
	fd, err := unix.Socket(family, typ|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	f := os.NewFile(uintptr(fd), "listener")
	fail := func(what string, err error) (*os.File, error) {
		f.Close()
		return nil, os.NewSyscallError(what, err)
	}
	if addr.Addr().IsUnspecified() { // an ordinary one, that may answer from any address
		options = options[1:]
		if typ == unix.SOCK_STREAM { // connections in TIME_WAIT are no hindrance
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
				return fail("setsockopt", err)
			}
		}
	}
	for _, o := range options {
		if err := unix.SetsockoptInt(fd, level, o, 1); err != nil {
			return fail("setsockopt", err)
		}
	}
	// Connections inherit it from their listener.
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_OLD, 1); err != nil {
		return fail("setsockopt", err)
	}
	if typ == unix.SOCK_DGRAM {
		if err := unix.SetsockoptInt(fd, level, original, 1); err != nil {
			return fail("setsockopt", err)
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1); err != nil {
			return fail("setsockopt", err)
		}
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, udpBuffer) != nil {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, udpBuffer)
		}
	}
	if err := unix.Bind(fd, sockaddr(addr)); err != nil {
		return fail("bind", err)
	}
	if typ == unix.SOCK_STREAM {
		if err := unix.Listen(fd, 4096); err != nil {
			return fail("listen", err)
		}
	}
	return f, nil
}
