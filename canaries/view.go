package canaries

import (
	"bytes"
	"sort"
)

// view is a stream without the escapes of one kind. It looks only at what lies
// near an escape: all else is as the stream itself has it. That is why it
// costs next to nothing where there are none.
type view struct {
	*escape
	m    *matcher
	keep int   // what the matcher needs of a text before and after a byte
	done int64 // the bytes of the stream that are decided
	next int64 // the byte of the stream that would follow on what is in out
	wall int64 // behind an escape that no text can hold
	hot  int64 // up to here the stream still lies near an escape

	out   []byte // what the stream says, from base on
	base  int64
	marks []mark
	width int64 // the last mark's, 0 where what comes next needs a mark
}

// mark says from where in the stream what follows in a view comes. Each byte
// from at on stands for width bytes of the stream, until the next mark.
type mark struct{ at, from, width int64 }

// flushAt is how much a view collects before it searches.
const flushAt = 8 << 10

// look goes on with b, which starts at base in the stream, and before what is
// new holds as much as an escape and a text before it may reach back.
func (v *view) look(b []byte, base int64, found func(hit int, from, to int64)) {
	i := int(v.done - base)
	for i < len(b) {
		if b[i] != v.trigger {
			n := bytes.IndexByte(b[i:], v.trigger)
			if n < 0 {
				n = len(b) - i
			}
			v.plain(b[i:i+n], base+int64(i))
			i += n
			continue
		}
		value, n := v.read(b[i:])
		// The two cases of a text with little but escapes come first: a byte that no
		// text holds, and one more of a run.
		at := base + int64(i)
		if n > 0 && value >= 0 && !v.m.alphabet[value] {
			v.wall, v.hot = at+int64(n), 0
			i += n
			continue
		}
		if n > 0 && value >= 0 && at == v.next && at < v.hot && len(v.out) < flushAt {
			if int64(n) != v.width {
				v.mark(at, int64(n))
			}
			v.out = append(v.out, byte(value))
			v.next += int64(n)
			v.hot = v.next + int64(v.keep)
			i += n
			continue
		}
		if n == cutOff {
			break
		}
		if n == notEscape {
			v.plain(b[i:i+1], base+int64(i))
			i++
			continue
		}
		v.escaped(b, i, base, value, n, found)
		i += n
	}
	v.done = base + int64(i)
	v.flush(found)
}

// plain takes bytes that stand for themselves, as far as they lie near an escape.
func (v *view) plain(p []byte, at int64) {
	if at != v.next || at >= v.hot {
		return
	}
	p = p[:min(int64(len(p)), v.hot-at)]
	if v.width != 1 {
		v.mark(at, 1)
	}
	v.out = append(v.out, p...)
	v.next = at + int64(len(p))
}

// escaped takes an escape of n bytes at b[i], and what lies before it.
func (v *view) escaped(b []byte, i int, base int64, value, n int, found func(hit int, from, to int64)) {
	at := base + int64(i)
	if value == drop && v.parts(b, i, at, n) {
		v.wall, v.hot = at+int64(n), 0
		return
	}
	if at != v.next || v.hot == 0 {
		v.flush(found)
		before := b[max(0, i-v.keep, int(v.wall-base)):i]
		v.out, v.base, v.marks = v.out[:0], 0, v.marks[:0]
		if len(before) > 0 {
			v.mark(at-int64(len(before)), 1)
			v.out = append(v.out, before...)
		}
	} else if len(v.out) >= flushAt {
		v.flush(found)
	}
	if value == drop {
		v.width = 0
	} else {
		v.mark(at, int64(n))
		v.out = append(v.out, byte(value))
	}
	v.next = at + int64(n)
	v.hot = v.next + int64(v.keep)
}

// parts reports whether no text can go on over what is dropped at b[i]: next to
// it stands what none can hold.
func (v *view) parts(b []byte, i int, at int64, n int) bool {
	if at == v.next && v.hot > 0 {
		if len(v.out) > 0 && !v.m.alphabet[v.out[len(v.out)-1]] {
			return true
		}
	} else if i > 0 && !v.m.alphabet[b[i-1]] {
		return true
	}
	return i+n < len(b) && b[i+n] != v.trigger && !v.m.alphabet[b[i+n]]
}

// mark notes where the next byte comes from, unless the last mark says so too.
func (v *view) mark(from, width int64) {
	at := v.base + int64(len(v.out))
	v.width = width
	if n := len(v.marks); n > 0 {
		if k := &v.marks[n-1]; k.width == width && k.from+(at-k.at)*width == from {
			return
		}
	}
	v.marks = append(v.marks, mark{at: at, from: from, width: width})
}

// source is the part of the stream for which the byte at stands.
func (v *view) source(at int64) (from, to int64) {
	n := sort.Search(len(v.marks), func(i int) bool { return v.marks[i].at > at }) - 1
	k := v.marks[n]
	from = k.from + (at-k.at)*k.width
	return from, from + k.width
}

// flush searches what was collected, and keeps of it what a longer text may
// start in.
func (v *view) flush(found func(hit int, from, to int64)) {
	if len(v.out) < v.m.min {
		return
	}
	v.m.scan(v.out, len(v.out), func(p *pattern, start int) {
		at := v.base + int64(start)
		from, _ := v.source(at)
		_, to := v.source(at + int64(len(p.text)) - 1)
		if to-from > int64(len(p.text)) { // else the stream itself has it
			found(p.hit, from, to)
		}
	})
	cut := max(0, len(v.out)-v.keep)
	v.out = v.out[:copy(v.out, v.out[cut:])]
	v.base += int64(cut)
	old := sort.Search(len(v.marks), func(i int) bool { return v.marks[i].at > v.base }) - 1
	v.marks = v.marks[:copy(v.marks, v.marks[max(0, old):])]
}
