package egress

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

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// Bounds of what one run may reach.
const (
	maxDials    = 10_000
	maxBytes    = 256 << 20
	dialTimeout = 8 * time.Second
	maxReached  = 1000
	// maxName bounds a host's name, as DNS does.
	maxName = 253
)

// Reached is one attempt to reach a host, by the word of the process that made it.
type Reached = session.Dialled

// Dialer reaches the hosts on a list for a sandbox. It believes nothing of who asks,
// and may be used from many goroutines.
type Dialer struct {
	allow []string

	mu      sync.Mutex
	dials   int
	spent   int64
	reached []Reached
}

// NewDialer returns a Dialer for the hosts on the list, by name.
func NewDialer(allow []string) *Dialer { return &Dialer{allow: slices.Clone(allow)} }

// Reached lists what was tried, in the order in which it ended.
func (d *Dialer) Reached() []Reached {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.reached)
}

// Serve reaches the host that a connection is to lead to and relays until either
// has ended, or refuses it.
func (d *Dialer) Serve(c *mux.Conn) {
	a := c.Addr()
	r := Reached{Network: a.Net, Host: strings.ToValidUTF8(a.Host[:min(len(a.Host), maxName)], "?"), Port: a.Port}
	err := d.serve(c, &r)
	var reset *mux.ResetError
	if err != nil && !errors.As(err, &reset) { // who asked may end it for whatever reason
		r.Err = err.Error()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.reached) < maxReached {
		d.reached = append(d.reached, r)
	}
}

func (d *Dialer) serve(c *mux.Conn, r *Reached) error {
	if err := d.count(); err != nil {
		c.Reset(err.Error())
		return err
	}
	if err := check(d.allow, c.Addr()); err != nil {
		c.Reset(errUnnamed.Error())
		return err
	}
	local, err := dial(c.Context(), r)
	if err != nil {
		c.Reset(plain(err).Error())
		return err
	}
	if err := c.Accept(); err != nil {
		_ = local.Close()
		return err
	}
	r.Came, r.Sent, err = c.Relay(local, mux.Relay{Packets: r.Network == "udp", Stall: mux.Stall, Farewell: mux.Farewell, Sent: d.spend, Came: d.spend})
	return err
}

// count keeps the run's account of connections.
func (d *Dialer) count() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dials++; d.dials > maxDials {
		return fmt.Errorf("more than %d connections to allowed hosts", maxDials)
	}
	return nil
}

// spend keeps the run's account of bytes.
func (d *Dialer) spend(n int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.spent += int64(n); d.spent > maxBytes {
		return fmt.Errorf("more than %d MiB to and from allowed hosts", maxBytes>>20)
	}
	return nil
}

var (
	errUnnamed = errors.New("the host is not one of those that are allowed")
	errInside  = errors.New("the name leads to an address that is not public")
)

// check is whether a host may be reached at all.
func check(allow []string, a mux.Addr) error {
	if a.Net != "tcp" && a.Net != "udp" || a.Port < 1 || a.Port > 65535 || a.Port == 53 {
		return fmt.Errorf("port %d of %.10q is not allowed", a.Port, a.Net)
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	if len(a.Host) > maxName || strings.ContainsFunc(a.Host, odd) || !sinkhole.Allows(allow, a.Host) {
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
