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
	sc := s.Scanner()
	sc.look(b, 0, 0)
	return sc.Hits()
}

// Scanner looks for the set's canaries in a stream. It belongs to one goroutine.
type Scanner struct {
	m     *matcher
	views []view
	buf   []byte // the stream's end, and what is being looked at
	off   int64  // where in the stream buf starts
	first map[found]int64
	told  func(k found, from, to int64) // of every find, where it is set
}

// found is a thing that can be found, in one view or, at zero, in the stream.
type found struct{ view, hit int }

// pieceSize is how much of a write is looked at together.
const pieceSize = 32 << 10

// Scanner starts a search over a stream.
func (s *Set) Scanner() *Scanner {
	sc := &Scanner{m: s.matcher(), first: map[found]int64{}}
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
// never fails and keeps no more than some hundred kilobytes.
func (sc *Scanner) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 {
		n, old := min(len(p), pieceSize), len(sc.buf)
		sc.buf = append(sc.buf, p[:n]...)
		p = p[n:]
		sc.look(sc.buf, old, sc.off)
		cut := max(0, len(sc.buf)-sc.m.keep()-longestEscape)
		sc.off += int64(cut)
		sc.buf = sc.buf[:copy(sc.buf, sc.buf[cut:])]
	}
	return size, nil
}

// look looks at b, of which the first old bytes were looked at before, and
// which starts at base in the stream.
func (sc *Scanner) look(b []byte, old int, base int64) {
	from := max(0, old-sc.m.keep())
	sc.m.scan(b[from:], len(b)-from, func(p *pattern, start int) {
		at := base + int64(from+start)
		sc.note(0, p.hit, at, at+int64(len(p.text)))
	})
	for i := range sc.views {
		sc.views[i].look(b, base, func(hit int, from, to int64) { sc.note(i+1, hit, from, to) })
	}
}

func (sc *Scanner) note(view, hit int, from, to int64) {
	k := found{view, hit}
	if old, ok := sc.first[k]; !ok || from < old {
		sc.first[k] = from
	}
	if sc.told != nil {
		sc.told(k, from, to)
	}
}

// Hits is what was found so far, sorted by offset.
func (sc *Scanner) Hits() []Hit {
	var out []Hit
	known := map[Hit]int{} // two views may bear one name
	order := func(a, b found) int { return cmp.Or(cmp.Compare(a.view, b.view), cmp.Compare(a.hit, b.hit)) }
	for _, k := range slices.SortedFunc(maps.Keys(sc.first), order) {
		h := sc.hit(k)
		if i, ok := known[h]; ok {
			out[i].Offset = min(out[i].Offset, sc.first[k])
			continue
		}
		known[h] = len(out)
		h.Offset = sc.first[k]
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
