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

// divert hands what goes to no address of the namespace's own to the listeners.
// In ModeRefuse that is DNS only: for the rest the kernel itself refuses, every
// address being local and nobody listening.
func divert(mode Mode, four, six netip.AddrPort, ipv6 bool) error {
	c, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "mangle"})
	chain := c.AddChain(&nftables.Chain{
		Name: "prerouting", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityMangle,
	})
	families := []family{{
		proto: unix.NFPROTO_IPV4, offset: 16, listener: four,
		own: []network{{[]byte{127, 0, 0, 0}, []byte{255, 0, 0, 0}}, {Own4.AsSlice(), bytes.Repeat([]byte{255}, 4)}},
	}}
	if ipv6 {
		all := bytes.Repeat([]byte{255}, 16)
		families = append(families, family{
			proto: unix.NFPROTO_IPV6, offset: 24, listener: six,
			own: []network{{netip.IPv6Loopback().AsSlice(), all}, {Own6.AsSlice(), all}},
		})
	}
	for _, f := range families {
		for _, l4 := range []byte{unix.IPPROTO_TCP, unix.IPPROTO_UDP} {
			c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: f.rule(mode, l4)})
		}
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("divert packets with nf_tables: %w", err)
	}
	return nil
}

// network is an address and a mask.
type network struct{ addr, mask []byte }

// family is one of the two of IP, as rules see it.
type family struct {
	proto    byte
	offset   uint32 // of the destination address in the header
	own      []network
	listener netip.AddrPort
}

func (f family) rule(mode Mode, l4 byte) []expr.Any {
	rule := []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{f.proto}},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{l4}},
	}
	for _, n := range f.own {
		size := uint32(len(n.addr))
		rule = append(rule,
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: f.offset, Len: size},
			&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: size, Mask: n.mask, Xor: make([]byte, size)},
			&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: n.addr})
	}
	if mode == ModeRefuse {
		rule = append(rule,
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(dnsPort)})
	}
	return append(rule,
		&expr.Immediate{Register: 1, Data: f.listener.Addr().AsSlice()},
		&expr.Immediate{Register: 2, Data: binaryutil.BigEndian.PutUint16(f.listener.Port())},
		&expr.TProxy{Family: f.proto, TableFamily: byte(nftables.TableFamilyINet), RegAddr: 1, RegPort: 2},
		&expr.Verdict{Kind: expr.VerdictAccept})
}
