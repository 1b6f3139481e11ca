package carry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// Bounds of what one run may reach.
const (
	maxDials    = 10_000
	maxBytes    = 256 << 20
	dialTimeout = 8 * time.Second
	maxReached  = 1000
)

// Reached is one attempt to reach a host, by the word of the process that made it.
type Reached = session.Dialled

// Host is the side that dials. It believes nothing of who asks.
type Host struct {
	*Carrier
	allow  []string
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	dials   int
	spent   int64
	reached []Reached
}

// NewHost returns a side that reaches the hosts on the list, by name.
func NewHost(allow []string, send func(payload []byte) error) *Host {
	h := &Host{Carrier: New(send), allow: slices.Clone(allow)}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Dial begins to reach a host, and says to the other side what came of it. It
// never blocks.
func (h *Host) Dial(id int64, network, host string, port int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return errOver
	}
	if h.dials++; h.dials > maxDials {
		return fmt.Errorf("more than %d connections to allowed hosts", maxDials)
	}
	h.wg.Go(func() { h.serve(id, Reached{Network: network, Host: host, Port: port}) })
	return nil
}

// Close ends all connections and returns when they have.
func (h *Host) Close() {
	h.mu.Lock()
	h.cancel()
	h.mu.Unlock()
	h.Carrier.Close()
	h.wg.Wait()
}

// Reached lists what was tried, in the order in which it ended.
func (h *Host) Reached() []Reached {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.reached)
}

// serve is one connection's whole life.
func (h *Host) serve(id int64, r Reached) {
	err := h.carry(id, &r)
	if err != nil {
		r.Err = err.Error()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.reached) < maxReached {
		h.reached = append(h.reached, r)
	}
}

func (h *Host) carry(id int64, r *Reached) error {
	if err := check(h.allow, r.Network, r.Host, r.Port); err != nil {
		r.Host = strings.ToValidUTF8(r.Host[:min(len(r.Host), 253)], "?")
		h.Refuse(id, errUnnamed)
		return err
	}
	local, err := dial(h.ctx, r)
	if err != nil {
		h.Refuse(id, plain(err))
		return err
	}
	conn, err := h.Accept(id)
	if err != nil {
		_ = local.Close()
		h.Refuse(id, err)
		return err
	}
	r.Came, r.Sent, err = conn.Carry(local, r.Network == "udp", h.spend)
	return err
}

// spend keeps the run's account.
func (h *Host) spend(n int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.spent += int64(n); h.spent > maxBytes {
		return fmt.Errorf("more than %d MiB to and from allowed hosts", maxBytes>>20)
	}
	return nil
}

var (
	errUnnamed = errors.New("the host is none of those that are allowed")
	errInside  = errors.New("the name leads to an address that is not public")
)

// check is whether a host may be reached at all.
func check(allow []string, network, host string, port int) error {
	if network != "tcp" && network != "udp" || port < 1 || port > 65535 || port == 53 {
		return fmt.Errorf("port %d of %.10q is not to be reached", port, network)
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	if len(host) > 253 || strings.ContainsFunc(host, odd) || !sinkhole.Allows(allow, host) {
		return errUnnamed
	}
	return nil
}

// dial resolves and connects. What is checked is the address that the socket is
// about to be connected to, so that no second answer of a name server slips by.
func dial(ctx context.Context, r *Reached) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || !Public(a.Addr()) {
			return fmt.Errorf("%w: %s", errInside, address)
		}
		return nil
	}}
	// With its dot no search list of this machine's is tried.
	conn, err := d.DialContext(ctx, r.Network, net.JoinHostPort(strings.TrimSuffix(r.Host, ".")+".", fmt.Sprint(r.Port)))
	if err != nil {
		return nil, err
	}
	r.Address, _ = netip.ParseAddrPort(conn.RemoteAddr().String())
	r.Address = netip.AddrPortFrom(r.Address.Addr().Unmap(), r.Address.Port())
	return conn, nil
}

// plain is an error without this machine's addresses: it goes into the sandbox.
func plain(err error) error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, errInside):
		return errInside
	case errors.As(err, &dns):
		return errors.New("the name does not resolve")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the connection was refused")
	}
	return errors.New("no connection was made")
}

// inside are the blocks of IPv4 and of 2000::/3 in which no stranger's host is,
// or behind which another address hides; and one cloud's service for its own machines.
var inside = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/3", "168.63.129.16/32", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

var public6 = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Public reports whether an address is one of the public internet's: neither
// this machine's or its networks', nor a cloud's metadata service, nor special.
func Public(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is6() && !public6.Contains(a) || !a.IsValid() {
		return false
	}
	return !slices.ContainsFunc(inside, func(p netip.Prefix) bool { return p.Contains(a) })
}
