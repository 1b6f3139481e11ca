package sinkhole

import (
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"strings"
	"sync"
)

// notGlobal are the blocks that no name may get an address from: reserved ones,
// and those whose use would tell a program where it is.
var notGlobal = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3")

// global6 are the first 16 bits of blocks that registries have given to networks.
var global6 = []uint16{0x2400, 0x2404, 0x2600, 0x2604, 0x2606, 0x2607, 0x2620, 0x2800, 0x2a00, 0x2a01, 0x2a02, 0x2a03, 0x2a04, 0x2c0f}

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

const blockSize = 254 // the hosts of a /24

// names gives each name an address of each family and remembers whose it is.
type names struct {
	mu      sync.Mutex
	max     int
	leads   []Lead
	every   bool            // names exist whatever they are
	missing []string        // names that do not exist, nor what is below them
	known   map[string]bool // these exist, in lower case
	allow   []string        // and these: see Allows
	four    []netip.Addr    // first address of each /24
	six     [8]byte         // the /64
	number  map[string]uint32
	list    []string
	at      map[netip.Addr]uint32 // of four's blocks only
	asked   map[query]bool        // of names that lead elsewhere later
}

// query asks for a name's address of a family.
type query struct {
	name string
	six  bool
}

// newNames takes what it needs of a Config: MaxNames, Leads, EveryName, Known, Missing and Allow.
func newNames(c Config) *names {
	n := &names{max: c.MaxNames, leads: c.Leads, every: c.EveryName, allow: c.Allow, known: map[string]bool{}, number: map[string]uint32{}, at: map[netip.Addr]uint32{}, asked: map[query]bool{}}
	for _, name := range c.Missing {
		n.missing = append(n.missing, canonical(name))
	}
	for _, name := range c.Known {
		n.known[canonical(name)] = true
	}
	taken := map[netip.Addr]bool{}
	for len(n.four)*blockSize < n.max+1 {
		if a := drawBlock(); !taken[a] {
			taken[a] = true
			n.four = append(n.four, a)
		}
	}
	_, _ = rand.Read(n.six[:])
	binary.BigEndian.PutUint16(n.six[:], global6[int(n.six[1])%len(global6)])
	n.list = append(n.list, "") // number 0 is shared by the names for which no address was left
	return n
}

func drawBlock() netip.Addr {
	for {
		var b [4]byte
		_, _ = rand.Read(b[:3])
		a, ok := netip.AddrFrom4(b), true
		for _, p := range notGlobal {
			ok = ok && !p.Contains(a)
		}
		if ok {
			return a
		}
	}
}

// canonical is a name as it is remembered: lower case, no dot at its end.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// lookup gives the addresses of a name. It reports false if none of its own was left.
func (n *names) lookup(name string) (four, six netip.Addr, ok bool) {
	name = canonical(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	i, known := n.number[name]
	if !known && len(n.list) <= n.max {
		i, known = uint32(len(n.list)), true
		n.number[name] = i
		n.list = append(n.list, name)
		n.at[n.v4(i)] = i
	}
	return n.v4(i), n.v6(i), known
}

// v4 spreads successive names over the blocks.
func (n *names) v4(i uint32) netip.Addr {
	b := n.four[int(i)%len(n.four)].As4()
	b[3] = byte(1 + (int(i)/len(n.four)+int(n.six[7]))%blockSize)
	return netip.AddrFrom4(b)
}

func (n *names) v6(i uint32) netip.Addr {
	var b [16]byte
	copy(b[:], n.six[:])
	// A bijection, so that addresses do not count upwards.
	binary.BigEndian.PutUint32(b[12:], i*0x9e3779b1)
	return netip.AddrFrom16(b)
}

// name is whose address this is, or "".
func (n *names) name(a netip.Addr) string {
	a = a.Unmap()
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.Is4() {
		if a == metadataAddr {
			return ""
		}
		return n.list[n.at[a]]
	}
	b := a.As16()
	if string(b[:8]) != string(n.six[:]) || binary.BigEndian.Uint32(b[8:12]) != 0 {
		return ""
	}
	inv := uint32(0x9e3779b1)
	for range 4 { // Newton's iteration: each step doubles the bits that are right
		inv *= 2 - 0x9e3779b1*inv
	}
	if i := binary.BigEndian.Uint32(b[12:]) * inv; int(i) < len(n.list) {
		return n.list[i]
	}
	return ""
}
