package profile

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Bounds on what a flood of connections can make a profile hold.
const (
	maxPlains     = 20_000
	maxPlainBytes = 64 << 20
	maxPeers      = 100
)

// How a decoy was read that no one saw on the wire.
const (
	plainSent    = "read before encryption"
	plainOffered = "read before encryption; the connection ended before it was sent"
)

// plain is what a client handed to its TLS library for one connection.
type plain struct {
	source, dest netip.AddrPort
	tied         time.Duration // when its socket was known
	sent         view
	// offered is what the library did not take, each time that it was given: the last time
	// may hold more than those before.
	offered view
	pieces  int
	// whole says that it was watched from its begin, broken that some of it is missing.
	whole, broken bool
}

// plains are the connections by their number, and in order.
type plains struct {
	by    map[uint64]*plain
	order []*plain
	bytes int
}

// plain takes what was read before it was encrypted.
func (b *Builder) plain(e *trace.Flow) {
	p := b.plains.by[e.Conn]
	if p == nil {
		if len(b.plains.order) >= maxPlains {
			return // its flow stays what it is without
		}
		if b.plains.by == nil {
			b.plains.by = map[uint64]*plain{}
		}
		p = &plain{}
		b.plains.by[e.Conn] = p
		b.plains.order = append(b.plains.order, p)
	}
	if !p.source.IsValid() && e.Source.IsValid() {
		p.source, p.dest, p.tied = unmapped(e.Source), unmapped(e.Dest), e.Stamp
	}
	p.whole, p.broken = p.whole || e.Whole, p.broken || e.Cut
	if b.plains.bytes += len(e.Data); b.plains.bytes > maxPlainBytes {
		p.broken = true
		return
	}
	switch {
	case len(e.Data) == 0:
	case e.Offered:
		p.offered.add(e.Data, e.Stamp)
	default:
		p.broken = p.broken || e.Offset != int64(len(p.sent.data))
		p.pieces++
		p.sent.add(e.Data, e.Stamp)
	}
}

// add takes a piece that follows the others.
func (v *view) add(data []byte, at time.Duration) {
	v.at = append(v.at, moment{int64(len(v.data)), at})
	v.data = append(v.data, data...)
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// tiePlains finds the flow of each connection: of those between its two ends the one that began
// nearest to the first use of its socket. The sinkhole takes a connection when it comes to it,
// which may be later. Several connections may be of one flow, as TLS within TLS is.
func (b *Builder) tiePlains() {
	if len(b.plains.order) == 0 {
		return
	}
	type ends struct{ source, dest netip.AddrPort }
	between := map[ends][]*flow{}
	for _, f := range b.order {
		f.plains = nil
		if f.known.Proto == "tcp" && f.known.Opaque {
			k := ends{unmapped(f.known.Source), unmapped(f.known.Dest)}
			between[k] = append(between[k], f)
		}
	}
	for _, p := range b.plains.order {
		list := between[ends{p.source, p.dest}]
		if len(list) == 0 {
			continue
		}
		f := slices.MinFunc(list, func(a, b *flow) int { return cmp.Compare((a.start - p.tied).Abs(), (b.start - p.tied).Abs()) })
		f.plains = append(f.plains, p)
	}
}

// readPlains searches what an opaque flow's client handed to TLS. A flow of which all was read
// so is opaque no more.
func (b *Builder) readPlains(f *flow) {
	if len(f.plains) == 0 {
		return
	}
	refused := f.unsent() // the sinkhole had nothing to open, whatever the library took
	read := !refused && f.whollyRead()
	inside, ok := f.inHTTP2()
	read = read && ok
	if read {
		f.known.Opaque = false
		if peer := b.peer(f); !slices.Contains(b.out.Plain, peer) && len(b.out.Plain) < maxPeers {
			b.out.Plain = append(b.out.Plain, peer)
		}
		switch {
		case len(inside.data) > 0:
			f.known.App = "h2"
		case requestAt(f.plainest().sent.data, 0) != "":
			f.known.App = "http/1.1"
		}
	}
	if len(inside.data) > 0 && !refused {
		b.searchPlain(f, &inside, plainSent, read)
		// Of what is taken apart the bytes themselves are searched as well, and judged once.
		read = false
	}
	for _, p := range f.plains {
		switch {
		case len(p.sent.data) > 0 && (refused || int64(len(p.sent.data)) > f.known.Up):
			b.searchPlain(f, &p.sent, plainOffered, false)
		case len(p.sent.data) > 0:
			b.searchPlain(f, &p.sent, plainSent, read)
		default:
			b.searchPlain(f, &p.offered, plainOffered, false)
		}
	}
}

// inHTTP2 is what the flow's client sent in HTTP/2, empty where it spoke something else. ok says
// that nothing was sent that could not be read.
func (f *flow) inHTTP2() (inside view, ok bool) {
	p := f.plainest()
	if p == nil || !hasPrefix(p.sent.data, "PRI * HTTP/2") {
		return view{}, true
	}
	if !p.whole || p.broken {
		return view{}, false
	}
	inside, ok = unpackHTTP2(&p.sent)
	return inside, ok && len(inside.data) > 0
}

// searchPlain finds the decoys of what was handed over. whole says that it counts as a view of
// the flow: what else is looked for in those is looked for here.
func (b *Builder) searchPlain(f *flow, from *view, how string, whole bool) {
	if len(from.data) == 0 {
		return
	}
	v := &view{data: from.data, at: from.at, scan: b.find.FlowScanner(canaries.Flow{Host: b.hostOf(f), SNI: f.known.SNI, TLS: true})}
	_, _ = v.scan.Write(v.data) // it never fails
	before, byCall := len(f.seen), map[inCall]bool{}
	for _, s := range b.sightings(f, v) {
		at := v.when(s.Offset)
		f.seen = append(f.seen, sighting{Sighting: s, at: at, request: requestAt(v.data, s.Offset)})
		byCall[inCall{s.ID, b.intervalAt(at).call}] = true
	}
	sent := messages(f, viewKey{view: trace.ViewPlain}, v.data)
	b.packed(f, v, sent, byCall)
	for i := range f.seen[before:] {
		f.seen[before+i].plain = how
	}
	if !whole {
		return
	}
	b.carries(f, v)
	b.relayedIn(f, v)
	for i := range sent {
		at := v.when(int64(sent[i].start))
		b.sealedIn(f, &sent[i], at)
		b.noteSent(f, &sent[i], at)
		b.sentParts(f, &sent[i], at)
	}
}

// whollyRead reports whether all was read that a flow's client sent: each of its connections from
// begin to end, one of them in the clear, and that was sent over the socket, with no more than a
// little beside it.
func (f *flow) whollyRead() bool {
	for _, p := range f.plains {
		if !p.whole || p.broken || len(p.sent.data) == 0 {
			return false
		}
	}
	p := f.plainest()
	if p == nil {
		return false
	}
	n := int64(len(p.sent.data))
	return n <= f.known.Up && f.known.Up <= n+recordCost*(int64(p.pieces)+n>>10+1)+handshakeBytes
}

// What TLS adds at most: to a record twice, where it is within TLS, and for its handshakes.
const (
	recordCost     = 2 * 64
	handshakeBytes = 16 << 10
)

// plainest is the connection whose text is no TLS itself, nil for none.
func (f *flow) plainest() *plain {
	for _, p := range f.plains {
		d := p.sent.data
		if record := len(d) > 2 && d[0] >= 20 && d[0] <= 23 && d[1] == 3; len(d) > 0 && !record {
			return p
		}
	}
	return nil
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }
