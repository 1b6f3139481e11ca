package profile

import (
	"maps"
	"slices"
)

// Now is the profile of what was taken so far. Unlike after Profile, the Builder can
// take more. The cost is that of what is known by now, without any search of it again
// but in flows that are still open.
func (b *Builder) Now() *Profile { return b.copy().Profile() }

// copy is a Builder that Profile may complete without a change to b. It shares what
// Profile only reads.
func (b *Builder) copy() *Builder {
	c, out := *b, *b.out
	out.Effects, out.Hits = slices.Clone(out.Effects), slices.Clip(out.Hits)
	out.Carried = slices.Clip(out.Carried)
	out.Relayed = slices.Clip(out.Relayed)
	out.Payloads = slices.Clip(out.Payloads)
	out.Opaque, out.Unread, out.Plain = slices.Clip(out.Opaque), slices.Clip(out.Unread), slices.Clip(out.Plain)
	c.out = &out
	c.index, c.opened, c.reachedIn = maps.Clone(b.index), maps.Clone(b.opened), maps.Clone(b.reachedIn)
	c.read = slices.Clip(b.read)
	c.inDNS = nil

	c.dials = make([]*dial, len(b.dials))
	for i, d := range b.dials {
		other := *d
		c.dials[i] = &other
	}
	// A flow names its calls only once it is completed, so no copy names one of b's.
	flows := make(map[*flow]*flow, len(b.order))
	c.order = make([]*flow, len(b.order))
	for i, f := range b.order {
		other := *f
		other.seen, other.datagrams = slices.Clip(f.seen), slices.Clip(f.datagrams)
		c.order[i], flows[f] = &other, &other
	}
	c.queries, c.urls = slices.Clone(b.queries), slices.Clone(b.urls)
	for i := range c.queries {
		c.queries[i].flow = flows[c.queries[i].flow]
	}
	for i := range c.urls {
		c.urls[i].flow = flows[c.urls[i].flow]
	}
	return &c
}
