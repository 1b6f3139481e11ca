package canaries

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A matcher knows what a secret looks like in each common encoding. A secret that was
// encoded twice, in a way that leaves no fixed text, or under an unknown key has no such
// look. A dive decodes what may be an encoding and searches the result, layer below layer.
// It takes a stream in parts that overlap, so that one stream gives the same finds in
// whatever pieces it came.
const (
	// partSize is how much of a stream a dive looks at together, partOverlap how much
	// of it is looked at again with what comes after it.
	partSize, partOverlap = 64 << 10, 16 << 10
	// maxDepth is how many layers are undone.
	maxDepth = 4
	// leastRun is the shortest text that may hold a secret in a second layer: fifteen
	// digits of base 85 hold the shortest one.
	leastRun = 15
	// maxTurned bounds the runs whose order or letters are changed as a whole, to see
	// whether they can be decoded then. Each such change doubles the work.
	maxTurned = 2 << 10
	// decodedFor and decodedAtLeast bound the bytes that are decoded for one run, with
	// all that is in it, decodedInPart those for all runs of a part: multiples of their
	// lengths, so that noise and most honest texts are far from them.
	decodedFor, decodedAtLeast, decodedInPart = 128, 8 << 10, 64
)

// deepFind is what a dive found: a text of the matcher below some layers.
type deepFind struct {
	hit      int
	layers   int
	name     string // of the layers, the outermost first
	from, to int    // of the run that holds it, in the part
}

// dive looks for texts below layers in one part of a stream.
type dive struct {
	m     *matcher
	finds []deepFind
	names []string // the layers that are undone
	// turned says that the last layer only changed the order or the letters.
	turned bool
	// shifted says that digits are read from another than the first one.
	shifted  bool
	left     int // what may still be decoded for this run
	spare    int // and for all of the part
	from, to int // the run of the part that is looked at
	between  []byte
	rooms    [maxDepth][]byte // what is decoded in each layer
	barren   map[string]bool  // runs of which it is known that nothing is in them
	packed   unpacking
}

// maxBarren bounds the runs that are remembered, and their lengths: the words of a
// log come again and again.
const maxBarren, longestBarren = 4 << 10, 128

// room is an empty buffer for what is decoded in the next layer. It is free again
// when that was looked at.
func (d *dive) room(size int) []byte {
	i := min(len(d.names), maxDepth-1)
	d.rooms[i] = slices.Grow(d.rooms[i][:0], size)
	return d.rooms[i]
}

// part looks at a part of a stream, of which the first old bytes were looked at before.
func (d *dive) part(b []byte, old int) []deepFind {
	key, long := partKey(b, old)
	if long && d.m.known.has(key) {
		return nil
	}
	finds := d.search(b, old)
	if long && len(finds) == 0 {
		d.m.known.add(key)
	}
	return finds
}

// search is part without what is remembered.
func (d *dive) search(b []byte, old int) []deepFind {
	d.finds, d.names, d.turned = d.finds[:0], d.names[:0], false
	d.spare = decodedInPart*len(b) + decodedAtLeast
	if len(d.barren) > maxBarren || d.barren == nil {
		d.barren = map[string]bool{}
	}
	from := max(0, old-d.m.deep.keep())
	d.m.deep.scan(b[from:], len(b)-from, func(p *pattern, start int) {
		d.at(from+start, from+start+len(p.text))
		d.note(p.hit, "")
	})
	d.keyed(b[from:], byXor, func(p *pattern, start int) { d.at(from+start, from+start+len(p.text)+1) })
	d.spans(b)
	d.swapped(b)
	d.cut(b)
	return d.shallowest(b)
}

// at says which run is looked at.
func (d *dive) at(from, to int) {
	if len(d.names) == 0 {
		d.from, d.to = from, to
		d.left = decodedFor*(to-from) + decodedAtLeast
	}
}

// note takes down a find below the layers, and the one that is given.
func (d *dive) note(hit int, layer string) {
	names := d.names
	if layer != "" {
		names = append(slices.Clip(names), layer)
	}
	inner := 0
	if h := d.m.hits[hit].Encoding; h != "raw" {
		inner = 1 + strings.Count(h, "+")
	}
	d.finds = append(d.finds, deepFind{hit, len(names) + inner, strings.Join(names, "+"), d.from, d.to})
}

// keyed looks for texts under an unknown key. It calls at, if there is one, with the place
// of each.
func (d *dive) keyed(b []byte, how int, at func(p *pattern, start int)) {
	k := &d.m.keyed[how]
	d.between = k.find(b, d.between, func(p *pattern, start, key int) {
		if at != nil {
			at(p, start)
		}
		d.note(p.hit, fmt.Sprintf(k.name, key))
	})
}

// layer looks into what stands below one more layer. What is turned only changed
// the order or the letters of what was above.
func (d *dive) layer(name string, b []byte, turned bool) {
	if len(b) < min(d.m.min, shortest) {
		return
	}
	whole := !turned && !d.shifted
	st := d.sift(b)
	if len(st.high)+len(st.low) > 0 || isPacked(b, whole) {
		d.enter(name, len(b), func() {
			d.turned = turned
			d.sifted(b, whole, st)
		})
	}
}

// spend counts bytes that were decoded.
func (d *dive) spend(size int) {
	d.left -= size
	d.spare -= size
}

// everyByte times a byte is that byte, eight times.
const everyByte = 0x0101010101010101

// enter does something below one more layer, for which so many bytes were decoded.
func (d *dive) enter(name string, size int, look func()) {
	if len(d.names) >= maxDepth || min(d.left, d.spare) < size {
		return
	}
	d.spend(size)
	turned, shifted := d.turned, d.shifted
	d.names, d.turned, d.shifted = append(d.names, name), false, false
	look()
	d.names, d.turned, d.shifted = d.names[:len(d.names)-1], turned, shifted
}

// text looks at what was decoded.
func (d *dive) text(b []byte, whole bool) { d.sifted(b, whole, d.sift(b)) }

// sifted looks at what was decoded. Most of it is noise, since what was decoded was no
// such text or started elsewhere: only stretches whose bytes agree in a bit can hold a
// secret, or something that was encoded. It is whole where it may begin with a packed stream
// that does not say so.
func (d *dive) sifted(b []byte, whole bool, st sieve) {
	in := 0
	for _, s := range st.high {
		in += s[1] - s[0]
	}
	if in*4 >= len(b) {
		d.match(b)
		d.spans(b)
	} else {
		for _, s := range st.high {
			d.match(b[s[0]:s[1]])
			d.spans(b[s[0]:s[1]])
		}
	}
	if len(d.names) == maxDepth {
		return
	}
	for _, s := range st.low {
		part := b[s[0]:s[1]]
		d.m.deep.scan(part, len(part), func(p *pattern, _ int) { d.note(p.hit, "") })
		if !d.turned {
			d.nibbles(part)
		}
	}
	d.unpack(b, whole)
}

// swapped looks for bytes with their halves swapped in a part that is not decoded.
func (d *dive) swapped(b []byte) {
	const word = 8
	var list [][2]int
	for i := 0; i+word <= len(b); i += word {
		v := binary.LittleEndian.Uint64(b[i:])
		if (v>>5|v>>6)&^(v>>7)&everyByte == everyByte {
			continue // eight characters of a text
		}
		if v &= 0x08 * everyByte; v == 0 || v == 0x08*everyByte {
			list = stretch(list, b, i, 0x08)
		}
	}
	for _, s := range list {
		d.at(s[0], s[1])
		d.nibbles(b[s[0]:s[1]])
	}
}

// nibbles looks at bytes with their halves swapped, unless they are a text as they are.
func (d *dive) nibbles(b []byte) {
	if len(b) < leastRun || len(b) > maxTurned {
		return
	}
	seen := 0
	for _, c := range b {
		if visible[c] {
			seen++
		}
	}
	if seen*16 < len(b)*15 {
		d.layer("nibbles swapped", []byte(swapNibbles(string(b))), true)
	}
}

// match looks for the texts themselves, plain and under a key.
func (d *dive) match(b []byte) {
	d.m.deep.scan(b, len(b), func(p *pattern, _ int) { d.note(p.hit, "") })
	if !d.turned {
		d.keyed(b, byXor, nil)
	}
}

// sieve is what is left of a text without noise: the stretches, from and to, whose
// bytes agree in the highest bit, as all visible ones do, and in that which becomes the
// highest when the halves of a byte are swapped.
type sieve struct{ high, low [][2]int }

// sift looks at every other word of four bytes: a stretch that is long enough covers two.
func (d *dive) sift(b []byte) (st sieve) {
	const step, high, low = 4, 0x80, 0x08
	for i := 0; i+2*step <= len(b); i += step {
		v := binary.LittleEndian.Uint64(b[i:])
		if h := v & (high * everyByte); h == 0 || h == high*everyByte {
			st.high = stretch(st.high, b, i, high)
		}
		if l := v & (low * everyByte); l == 0 || l == low*everyByte {
			st.low = stretch(st.low, b, i, low)
		}
	}
	return st
}

// stretch adds the stretch around i to a list, unless it is there.
func stretch(list [][2]int, b []byte, i int, bit byte) [][2]int {
	done := 0
	if n := len(list); n > 0 {
		done = list[n-1][1]
	}
	if i < done {
		return list
	}
	from, to := i, i
	for from > done && (b[from-1]^b[i])&bit == 0 {
		from--
	}
	for to < len(b) && (b[to]^b[i])&bit == 0 {
		to++
	}
	if to-from < shortest {
		return list
	}
	return append(list, [2]int{from, to})
}

// spans looks for what may have been encoded.
func (d *dive) spans(b []byte) {
	if len(d.names) == maxDepth {
		return
	}
	d.runs(b)
	d.spaced(b)
	d.wide(b)
	d.hidden(b)
}

// shallowest keeps, for each canary and place, the find below the fewest layers. It keeps
// none where the linear search finds the canary.
func (d *dive) shallowest(b []byte) []deepFind {
	if len(d.finds) == 0 {
		return nil
	}
	slices.SortStableFunc(d.finds, func(x, y deepFind) int { return cmp.Compare(x.layers, y.layers) })
	direct := map[string][]span{}
	id := func(hit int) string { return d.m.hits[hit].ID }
	d.m.direct(b, func(hit int, from, to int64) {
		direct[id(hit)] = append(direct[id(hit)], span{from: int(from), to: int(to)})
	})
	taken := map[string]places{}
	for id, spans := range direct {
		taken[id] = joined(spans)
	}
	var out []deepFind
	for _, f := range d.finds {
		if all, free := taken[id(f.hit)].with(f.from, f.to); free {
			taken[id(f.hit)] = all
			out = append(out, f)
		}
	}
	return out
}

// places are spans in order; no two overlap.
type places []span

// joined makes one span of those that overlap.
func joined(spans []span) places {
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	var out places
	for _, s := range spans {
		if n := len(out); n > 0 && s.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// with adds a span, unless one of them overlaps it.
func (p places) with(from, to int) (all places, free bool) {
	i, _ := slices.BinarySearchFunc(p, from, func(s span, from int) int { return cmp.Compare(s.to, from+1) })
	if i < len(p) && p[i].from < to {
		return p, false
	}
	return slices.Insert(p, i, span{from: from, to: to}), true
}

// direct finds the texts in b, and in its views.
func (m *matcher) direct(b []byte, found func(hit int, from, to int64)) {
	m.scan(b, len(b), func(p *pattern, start int) { found(p.hit, int64(start), int64(start+len(p.text))) })
	for i := range escapes {
		v := view{escape: &escapes[i], m: m, keep: m.keep()}
		v.look(b, 0, found)
	}
}
