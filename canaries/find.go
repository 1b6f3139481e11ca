package canaries

import (
	"cmp"
	"maps"
	"slices"
)

// Hit says that a canary is there. Each canary is told once for each encoding.
type Hit struct {
	ID string
	// Encoding is how it is written: "raw", "base64", "base64url", "hex",
	// "base32", "reversed" … Where one is inside another, the outer one comes
	// first: "percent+base64".
	Encoding string
	// Offset is where the first recognised piece of it starts, in bytes.
	Offset int64
}

// Find says which canaries are in b, whole or in a good part, and how written.
// The hits are sorted by offset.
func (s *Set) Find(b []byte) []Hit {
	sc := s.borrow()
	_, _ = sc.Write(b)
	hits := sc.Hits()
	s.giveBack(sc)
	return hits
}

// borrow is a Scanner over a new stream, which giveBack takes back: a judge searches a hundred
// thousand short texts.
func (s *Set) borrow() *Scanner {
	if s.idle != nil {
		if sc, ok := s.idle.Get().(*Scanner); ok {
			return sc
		}
	}
	return s.Scanner()
}

// giveBack makes a borrowed Scanner fit for the next stream.
func (s *Set) giveBack(sc *Scanner) {
	if s.idle == nil {
		return
	}
	clear(sc.first)
	sc.buf, sc.off, sc.told, sc.part, sc.base, sc.old, sc.more = sc.buf[:0], 0, nil, sc.part[:0], 0, 0, false
	for i := range sc.views {
		v := &sc.views[i]
		*v = view{escape: v.escape, m: v.m, keep: v.keep, out: v.out[:0], marks: v.marks[:0]}
	}
	if d := sc.dive; d != nil && len(d.barren) > maxBarren/16 {
		d.barren = nil
	} else if d != nil {
		clear(d.barren)
	}
	s.idle.Put(sc)
}

// Scanner looks for the set's canaries in a stream. It belongs to one goroutine.
type Scanner struct {
	m     *matcher
	limit int // the hits of m from here on are none of the set's
	views []view
	buf   []byte // the stream's end, and what is being looked at
	off   int64  // where in the stream buf starts
	first map[found]int64
	told  func(k found, from, to int64) // of every find, where it is set

	dive *dive  // nil in a linear search
	part []byte // the stream's end, as far as the dive has not gone into it with what follows
	base int64  // where in the stream part starts
	old  int    // how much of part was gone into
	more bool   // something was found since More was asked
}

// found is a thing that can be found, in one view or, at zero, in the stream, and
// below which layers.
type found struct {
	view, hit int
	layers    string
}

// pieceSize is how much of a write is looked at together.
const pieceSize = 32 << 10

// Scanner starts a search over a stream.
func (s *Set) Scanner() *Scanner {
	sc := &Scanner{m: s.matcher(), limit: s.limit, first: map[found]int64{}}
	if !s.linear {
		sc.dive = &dive{m: sc.m}
	}
	if len(sc.m.patterns) == 0 {
		return sc
	}
	sc.views = make([]view, len(escapes))
	for i := range sc.views {
		sc.views[i].escape, sc.views[i].m, sc.views[i].keep = &escapes[i], sc.m, sc.m.keep()
	}
	return sc
}

// Write looks at the next bytes of the stream, in whatever pieces it comes. It
// never fails and keeps no more than some hundred kilobytes. What lies below layers
// is found when enough of what follows is there; Hits looks into the rest.
func (sc *Scanner) Write(p []byte) (int, error) {
	sc.linear(p)
	sc.gather(p)
	return len(p), nil
}

// linear looks for the texts themselves, in the views too.
func (sc *Scanner) linear(p []byte) {
	for len(p) > 0 {
		n, old := min(len(p), pieceSize), len(sc.buf)
		sc.buf = append(sc.buf, p[:n]...)
		p = p[n:]
		sc.look(sc.buf, old, sc.off)
		cut := max(0, len(sc.buf)-sc.m.keep()-longestEscape)
		sc.off += int64(cut)
		sc.buf = sc.buf[:copy(sc.buf, sc.buf[cut:])]
	}
}

// look looks at b, of which the first old bytes were looked at before, and
// which starts at base in the stream.
func (sc *Scanner) look(b []byte, old int, base int64) {
	from := max(0, old-sc.m.keep())
	sc.m.scan(b[from:], len(b)-from, func(p *pattern, start int) {
		at := base + int64(from+start)
		sc.seen(0, p.hit, at, at+int64(len(p.text)))
	})
	for i := range sc.views {
		sc.views[i].look(b, base, func(hit int, from, to int64) { sc.seen(i+1, hit, from, to) })
	}
}

// gather takes bytes for the dive, and goes into each part that is full.
func (sc *Scanner) gather(p []byte) {
	if sc.dive == nil {
		return
	}
	for len(p) > 0 && len(sc.m.patterns) > 0 {
		n := min(len(p), partSize-(len(sc.part)-sc.old))
		sc.part = append(sc.part, p[:n]...)
		p = p[n:]
		if len(sc.part)-sc.old < partSize {
			break
		}
		sc.below(sc.note)
		cut := max(0, len(sc.part)-partOverlap)
		sc.base += int64(cut)
		sc.part = sc.part[:copy(sc.part, sc.part[cut:])]
		sc.old = len(sc.part)
	}
}

// below goes into a part of the stream.
func (sc *Scanner) below(note func(k found, from, to int64)) {
	if len(sc.part) == sc.old {
		return
	}
	for _, f := range sc.dive.part(sc.part, sc.old) {
		if f.hit >= sc.limit {
			continue
		}
		note(found{hit: f.hit, layers: f.name}, sc.base+int64(f.from), sc.base+int64(f.to))
	}
}

// More reports whether something was found since it was last asked. It costs
// nothing, and leaves out what only Hits looks into.
func (sc *Scanner) More() bool {
	more := sc.more
	sc.more = false
	return more
}

func (sc *Scanner) seen(view, hit int, from, to int64) {
	if hit < sc.limit {
		sc.note(found{view: view, hit: hit}, from, to)
	}
}

func (sc *Scanner) note(k found, from, to int64) {
	old, ok := sc.first[k]
	if !ok || from < old {
		sc.first[k] = from
	}
	sc.more = sc.more || !ok
	if sc.told != nil {
		sc.told(k, from, to)
	}
}

// Hits is what was found so far, sorted by offset. It looks into the stream's last
// bytes as if nothing followed, each time that it is called.
func (sc *Scanner) Hits() []Hit {
	first := maps.Clone(sc.first)
	sc.below(func(k found, from, _ int64) {
		if old, ok := first[k]; !ok || from < old {
			first[k] = from
		}
	})
	if len(first) == 0 {
		return nil
	}
	var out []Hit
	known := map[Hit]int{} // two views may bear one name
	order := func(a, b found) int {
		return cmp.Or(cmp.Compare(a.layers, b.layers), cmp.Compare(a.view, b.view), cmp.Compare(a.hit, b.hit))
	}
	for _, k := range slices.SortedFunc(maps.Keys(first), order) {
		h := sc.hit(k)
		if i, ok := known[h]; ok {
			out[i].Offset = min(out[i].Offset, first[k])
			continue
		}
		known[h] = len(out)
		h.Offset = first[k]
		out = append(out, h)
	}
	sortHits(out)
	return out
}

// hit is what was found, without its place.
func (sc *Scanner) hit(k found) Hit {
	h := sc.m.hits[k.hit]
	if k.view > 0 {
		h.Encoding = inside(escapes[k.view-1].name, h.Encoding)
	}
	if k.layers != "" {
		h.Encoding = inside(k.layers, h.Encoding)
	}
	return h
}

func sortHits(hits []Hit) {
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Offset, b.Offset) })
}

// inside names an encoding that stands within another.
func inside(outer, inner string) string {
	if inner == "raw" {
		return outer
	}
	return outer + "+" + inner
}
