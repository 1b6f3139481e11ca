package sinkhole

import (
	"bytes"
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

const dnsPort = 53

// divert hands what goes to no address of the namespace's own to the listeners,
// refuses what is to be refused, and has a copy of each such packet and of all
// that is neither TCP nor UDP put into logGroup, if logged.
func divert(c *Config, four, six netip.AddrPort, ipv6, logged bool) error {
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "mangle"})
	chain := conn.AddChain(&nftables.Chain{
		Name: "prerouting", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityMangle,
	})
	conn.FlushChain(chain)
	own := c.own()
	families := []family{{
		proto: unix.NFPROTO_IPV4, offset: 16, listener: four, icmp: unix.IPPROTO_ICMP,
		answers: []byte{0, 3, 11, 12}, kernels: [][]expr.Any{l4(unix.IPPROTO_IGMP)}, groups: network{[]byte{224, 0, 0, 0}, []byte{240, 0, 0, 0}},
		own: []network{{[]byte{127, 0, 0, 0}, []byte{255, 0, 0, 0}}, {own[0].AsSlice(), bytes.Repeat([]byte{255}, 4)}},
	}}
	if ipv6 {
		all := bytes.Repeat([]byte{255}, 16)
		families = append(families, family{
			proto: unix.NFPROTO_IPV6, offset: 24, listener: six, icmp: unix.IPPROTO_ICMPV6,
			answers: []byte{1, 2, 3, 4, 129}, kernels: kernels6(), groups: network{first(0xff), first(0xff)},
			own: []network{{netip.IPv6Loopback().AsSlice(), all}, {own[1].AsSlice(), all}},
		})
	}
	for _, f := range families {
		f.logged = logged
		for _, r := range f.rules(c) {
			conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: r})
		}
	}
	if logged && c.Interface != "" {
		out := conn.AddChain(&nftables.Chain{
			Name: "output", Table: table, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityMangle,
		})
		conn.FlushChain(out)
		for _, f := range families {
			f.logged = logged
			for _, r := range f.leaving(c.Interface) {
				conn.AddRule(&nftables.Rule{Table: table, Chain: out, Exprs: r})
			}
		}
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("divert packets with nf_tables: %w", err)
	}
	return nil
}

// first is the length of an address of IPv6, all zero but its first byte.
func first(b byte) []byte { return append([]byte{b}, make([]byte, 15)...) }

// network is an address and a mask.
type network struct{ addr, mask []byte }

// family is one of the two of IP, as rules see it.
type family struct {
	proto    byte
	icmp     byte
	answers  []byte       // the types of ICMP that answer or report, and carry nothing of the sender's choice
	kernels  [][]expr.Any // what the kernel itself sends by an interface
	offset   uint32       // of the destination address in the header
	own      []network
	groups   network // of multicast
	listener netip.AddrPort
	logged   bool
}

// rules are one family's, in order.
func (f family) rules(c *Config) [][]expr.Any {
	// The listeners themselves: nobody has business there.
	rules := [][]expr.Any{
		join(f.to(network{f.listener.Addr().AsSlice(), nil}), l4(unix.IPPROTO_TCP), reset),
		join(f.to(network{f.listener.Addr().AsSlice(), nil}), l4(unix.IPPROTO_UDP), unreachable),
	}
	if c.Interface != "" { // what a program sent to a group by it comes back, and was copied on its way out
		rules = append(rules, join(f.is(), through(expr.MetaKeyIIFNAME, c.Interface), accept))
	}
	for _, n := range f.own {
		// What a socket of the namespace waits for is its own.
		rules = append(rules,
			join(f.to(n), l4(unix.IPPROTO_TCP), socket, accept),
			join(f.to(n), l4(unix.IPPROTO_UDP), socket, accept))
		for _, v := range c.Services {
			rules = append(rules, join(f.to(n), l4(unix.IPPROTO_TCP), syn, transport(2, byte(v.Port>>8), byte(v.Port)), f.tproxy()))
		}
		for _, begun := range [][]expr.Any{join(f.to(n), l4(unix.IPPROTO_TCP), syn), join(f.to(n), l4(unix.IPPROTO_UDP))} {
			if c.AnswerLoopback && c.Mode != ModeRefuse {
				rules = append(rules, join(begun, f.tproxy()))
			} else { // the kernel refuses: nobody listens
				rules = append(rules, join(begun, f.log(), accept))
			}
		}
		rules = append(rules, join(f.to(n), l4(unix.IPPROTO_TCP), accept))
	}
	if f.logged { // to a group that nobody joined the kernel delivers nothing, whatever the listener
		rules = append(rules, join(f.to(f.groups), l4(unix.IPPROTO_UDP), f.log(), accept))
	}
	if c.Mode == ModeRefuse {
		rules = append(rules,
			join(f.is(), l4(unix.IPPROTO_TCP), toDNS, f.tproxy()),
			join(f.is(), l4(unix.IPPROTO_UDP), toDNS, f.tproxy()),
			join(f.is(), l4(unix.IPPROTO_UDP), fromDNS, accept),
			join(f.is(), l4(unix.IPPROTO_TCP), syn, f.log(), reset),
			join(f.is(), l4(unix.IPPROTO_UDP), f.log(), unreachable))
	} else {
		rules = append(rules,
			join(f.is(), l4(unix.IPPROTO_TCP), f.tproxy()),
			join(f.is(), l4(unix.IPPROTO_UDP), f.tproxy()))
	}
	if !f.logged {
		return rules
	}
	for _, t := range f.answers {
		rules = append(rules, join(f.is(), l4(f.icmp), icmpType(t), accept))
	}
	for _, known := range []byte{unix.IPPROTO_TCP, unix.IPPROTO_UDP} {
		rules = append(rules, join(f.is(), l4(known), accept))
	}
	return append(rules, join(f.is(), f.log(), accept))
}

// kernels6 match what the kernel sends by an interface to find its neighbours, routers and
// groups (RFC 4861, RFC 3810). No program of the target's may send these.
func kernels6() [][]expr.Any {
	var out [][]expr.Any
	for _, t := range []byte{131, 132, 133, 135, 136, 143} {
		out = append(out, join(l4(unix.IPPROTO_ICMPV6), icmpType(t)))
	}
	return out
}

// leaving are the rules for what is sent by an interface that leads nowhere, because a
// program named it or by its address: it is copied, and goes there.
func (f family) leaving(name string) [][]expr.Any {
	by := through(expr.MetaKeyOIFNAME, name)
	var rules [][]expr.Any
	for _, k := range f.kernels {
		rules = append(rules, join(f.is(), by, k, accept))
	}
	return append(rules, join(f.is(), by, f.log(), accept))
}

// through matches packets that come or go by an interface.
func through(which expr.MetaKey, name string) []expr.Any {
	held := make([]byte, unix.IFNAMSIZ) // as the kernel holds it
	copy(held, name)
	return []expr.Any{&expr.Meta{Key: which, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: held}}
}

func join(parts ...[]expr.Any) []expr.Any {
	var out []expr.Any
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// is matches packets of the family.
func (f family) is() []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{f.proto}},
	}
}

// to matches packets of the family to a network; without a mask that is one address.
func (f family) to(n network) []expr.Any {
	size := uint32(len(n.addr))
	e := append(f.is(), &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: f.offset, Len: size})
	if n.mask != nil {
		e = append(e, &expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: size, Mask: n.mask, Xor: make([]byte, size)})
	}
	return append(e, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: n.addr})
}

// l4 matches a protocol above IP.
func l4(proto byte) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{proto}},
	}
}

// transport matches bytes of the header above IP.
func transport(offset uint32, want ...byte) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: uint32(len(want))},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: want},
	}
}

func icmpType(t byte) []expr.Any { return transport(0, t) }

var (
	fromDNS = transport(0, 0, dnsPort)
	toDNS   = transport(2, 0, dnsPort)
	accept  = []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}}
	reset   = []expr.Any{&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}}
	// unreachable is what the kernel says of a port that is not open.
	unreachable = []expr.Any{&expr.Reject{Type: unix.NFT_REJECT_ICMPX_UNREACH, Code: unix.NFT_REJECT_ICMPX_PORT_UNREACH}}
	// socket matches where there is a socket for the packet, whatever its kind:
	// without one the expression itself fails.
	socket = []expr.Any{&expr.Socket{Key: expr.SocketKeyTransparent, Register: 1}}
	// syn matches the packet that asks for a connection: SYN alone of FIN, SYN, RST, ACK.
	syn = []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 13, Len: 1},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 1, Mask: []byte{0x17}, Xor: []byte{0}},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{0x02}},
	}
)

// tproxy gives the packet to the listener.
func (f family) tproxy() []expr.Any {
	return []expr.Any{
		&expr.Immediate{Register: 1, Data: f.listener.Addr().AsSlice()},
		&expr.Immediate{Register: 2, Data: binaryutil.BigEndian.PutUint16(f.listener.Port())},
		&expr.TProxy{Family: f.proto, TableFamily: byte(nftables.TableFamilyINet), RegAddr: 1, RegPort: 2},
		&expr.Verdict{Kind: expr.VerdictAccept},
	}
}

// log puts a copy of the packet into the group.
func (f family) log() []expr.Any {
	if !f.logged {
		return nil
	}
	return []expr.Any{&expr.Log{Key: 1 << unix.NFTA_LOG_GROUP, Group: logGroup}}
}
