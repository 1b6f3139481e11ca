package profile

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// slack is how much earlier than the call of the kernel a flow may be stamped:
// the tracer and the sinkhole read one clock, but a call is stamped at its entry.
const slack = 2 * time.Millisecond

// opening is a call that a flow belongs to from a moment on.
type opening struct {
	at   time.Duration
	dial *dial
}

// arrival is a moment at which something of a flow came: its begin and, where
// there is no connection, each datagram.
type arrival struct {
	f  *flow
	at time.Duration
	// after is when the datagram before came, 0 for the begin.
	after time.Duration
}

// datagram notes when one came. The kernel gives a port to the next process when
// the last one is gone, so one flow may be several sockets'.
func (f *flow) datagram(at time.Duration) {
	if n := len(f.datagrams); f.known.Proto == "udp" && (n == 0 || at > f.datagrams[n-1]) {
		f.datagrams = append(f.datagrams, at)
	}
}

// matchDials finds for each flow the calls that opened it. The last come first,
// so that of two that were waiting for their turn each has its own, and a call
// that led to nothing is left over. A socket that was opened before serves later
// datagrams too.
func (b *Builder) matchDials() {
	byDest := map[netip.AddrPort]*dials{}
	for _, d := range b.dials {
		if byDest[d.to] == nil {
			byDest[d.to] = &dials{}
		}
		byDest[d.to].list = append(byDest[d.to].list, d)
	}
	for _, to := range byDest {
		slices.SortStableFunc(to.list, func(a, b *dial) int { return cmp.Compare(a.at, b.at) })
		to.free = len(to.list)
	}
	var begun, later []arrival
	for _, f := range b.order {
		begun = append(begun, arrival{f: f, at: f.start})
		last := f.start
		for _, at := range f.datagrams {
			if at > last {
				later = append(later, arrival{f: f, at: at, after: last})
				last = at
			}
		}
		f.datagrams = nil
	}
	for _, list := range [][]arrival{begun, later} {
		slices.SortStableFunc(list, func(a, b arrival) int { return cmp.Compare(b.at, a.at) })
		for _, m := range list {
			dest := netip.AddrPortFrom(m.f.known.Dest.Addr().Unmap(), m.f.known.Dest.Port())
			if d := byDest[dest].opener(m); d != nil {
				d.used = true
				m.f.opened = append(m.f.opened, opening{m.at, d})
			}
		}
	}
	for _, f := range b.order {
		slices.SortFunc(f.opened, func(a, b opening) int { return cmp.Compare(a.at, b.at) })
	}
}

// dials are the calls that named one address, in the order of time; those from
// free on led to a flow that began, or to none that is known.
type dials struct {
	list []*dial
	free int
}

// before counts the calls up to a moment.
func (to *dials) before(at time.Duration) int {
	n, _ := slices.BinarySearchFunc(to.list, at+slack+1, func(d *dial, t time.Duration) int { return cmp.Compare(d.at, t) })
	return n
}

// opener is the latest call before a moment that led to nothing else: for the
// begin of a flow at all, the last first, and then for its datagrams since the
// one before. Where none is left a flow belongs to the latest.
func (to *dials) opener(m arrival) *dial {
	if to == nil {
		return nil
	}
	n := to.before(m.at)
	if m.after == 0 {
		if to.free = min(to.free, n); to.free > 0 {
			to.free--
			return to.list[to.free]
		}
		if n > 0 {
			return to.list[n-1]
		}
		return nil
	}
	for _, d := range slices.Backward(to.list[:n]) {
		if d.at <= m.after {
			break
		}
		if !d.used {
			return d
		}
	}
	return nil
}

// dial is the call that a flow belongs to at a moment, nil where none is known.
func (f *flow) dial(at time.Duration) *dial {
	var d *dial
	for i, o := range f.opened {
		if i == 0 || o.at <= at {
			d = o.dial
		}
	}
	return d
}
