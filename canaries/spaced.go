package canaries

import (
	"bytes"
)

const (
	// longestGroup is how many characters stand together at most in a text that is
	// spaced out, and longestSeparator what stands between two groups: "0x41", "\u0041"
	// and ", " are three of them. Groups of binary digits are longer.
	longestGroup, longestSeparator, longestBits = 5, 8, 8
	// leastCodes is how many numbers in a row are taken for characters.
	leastCodes = shortest
)

// alnum are letters and figures, figures the decimal digits, zeroOne those of base 2.
var (
	alnum   = words.without("+/-_")
	figures = classOf("0123456789")
	zeroOne = classOf("01")
	// between is what may stand between groups: other visible characters, blanks, ends
	// of lines, and the bytes of characters without a width.
	between = func() *class {
		c := visible.without(string(alnumBytes()))
		for _, b := range " \t\r\n" {
			c[b] = true
		}
		for i := 0x80; i < 0xc0; i++ {
			c[i] = true
		}
		c[0xe2], c[0xef] = true, true
		return c
	}()
)

func alnumBytes() (out []byte) {
	for i, in := range alnum {
		if in {
			out = append(out, byte(i))
		}
	}
	return out
}

// groupEnd is where the group that starts at i ends, or -1 where it is too long.
func groupEnd(b []byte, i int) int {
	to, bits := i, true
	for to < len(b) && alnum[b[to]] {
		bits = bits && zeroOne[b[to]]
		to++
		if n := to - i; n > longestBits || n > longestGroup && !bits {
			return -1
		}
	}
	return to
}

// separatorEnd is where the separator that starts at i ends, or -1 where it is too long.
func separatorEnd(b []byte, i int) int {
	to := i
	for to < len(b) && between[b[to]] {
		if to++; to-i > longestSeparator {
			return -1
		}
	}
	return to
}

// spaced looks at characters, or short groups of them, with something between them.
func (d *dive) spaced(b []byte) {
	const step, enough = 16, 3
	for i, end := 0, 0; i < len(b); {
		from := i
		for from > end && from > i-longestBits && alnum[b[from]] && alnum[b[from-1]] {
			from--
		}
		for from < len(b) && !alnum[b[from]] {
			from++
		}
		groups, to, separators := groupsAt(b, from)
		if groups < enough {
			i = max(to, i) + step
			continue
		}
		for from > end && from > i-longestBits-step {
			before := groupBefore(b, end, from, separators)
			if before < 0 {
				break
			}
			from = before
			groups++
		}
		if groups < leastCodes/2 {
			i = max(to, i) + step
			continue
		}
		from = ownStart(b, from)
		if groups, to, _ = groupsAt(b, from); groups >= leastCodes {
			d.at(from, to)
			d.groups(b[from:to])
		}
		if first, last, period := periodAt(b, from); period > 0 && last-first >= leastCodes*period {
			d.at(first, last)
			d.layer("spaced", every(b[first:last], period), false)
			to = max(to, last)
		}
		end = max(end, to)
		i = max(to, i) + step
	}
}

// ownStart is where the text of groups that starts at from starts by itself: behind the
// first group where something else than between the next two follows it, as a name does.
func ownStart(b []byte, from int) int {
	var starts, ends [3]int
	for i, at := 0, from; i < len(starts); i++ {
		if at < 0 || at >= len(b) {
			return from
		}
		starts[i], ends[i] = at, groupEnd(b, at)
		if ends[i] < 0 {
			return from
		}
		at = separatorEnd(b, ends[i])
	}
	if bytes.Equal(b[ends[0]:starts[1]], b[ends[1]:starts[2]]) {
		return from
	}
	return starts[1]
}

// periodAt is the stretch around i in which single characters, whatever they are,
// have always the same between them. The period is zero where there is none.
func periodAt(b []byte, i int) (from, to, period int) {
	n := separatorEnd(b, i+1) - i
	for next := i + n; n > 1 && next < len(b); { // what is shortest has no other character in it
		after := separatorEnd(b, next+1)
		if after <= next+1 || next-i > 4*longestSeparator {
			break
		}
		n, next = min(n, after-next), after
	}
	if n <= 1 || i+n > len(b) {
		return 0, 0, 0
	}
	separator := b[i+1 : i+n]
	for from = i; from >= n && bytes.Equal(b[from-n+1:from], separator); {
		from -= n
	}
	for to = i + 1; to+n <= len(b) && bytes.Equal(b[to:to+n-1], separator); {
		to += n
	}
	return from, to, n
}

// every is each n-th byte.
func every(b []byte, n int) []byte {
	out := make([]byte, 0, len(b)/n+1)
	for i := 0; i < len(b); i += n {
		out = append(out, b[i])
	}
	return out
}

// isEscape are the bytes that are escapes of the views, and no separators.
var isEscape = classOf("%&=;")

// groupsAt counts the groups from i on, and says where the last one ends, and which
// separators take turns: two at most.
func groupsAt(b []byte, i int) (groups, to int, known [2][]byte) {
	if i < len(b) && !alnum[b[i]] {
		if i = separatorEnd(b, i); i < 0 {
			return 0, 0, known
		}
	}
	to = i
	for at := i; at < len(b); {
		next := groupEnd(b, at)
		if next <= at {
			break
		}
		groups, to = groups+1, next
		if at = separatorEnd(b, next); at < 0 || at == next {
			break
		}
		switch separator := b[next:at]; {
		case known[0] == nil:
			if isEscape[separator[0]] {
				return 0, at, known
			}
			known[0] = separator
		case bytes.Equal(separator, known[0]) || known[1] != nil && bytes.Equal(separator, known[1]):
		case holdsData(separator, known[0]):
		case known[1] == nil:
			known[1] = separator
		default:
			return groups, to, known
		}
	}
	return groups, to, known
}

// holdsData reports whether between two letters stand one or two other characters of
// a text that is spaced out, with the separator on either side.
func holdsData(b, separator []byte) bool {
	n := len(separator)
	return len(b) > 2*n && len(b) <= 3*n+2 && bytes.HasPrefix(b, separator) && bytes.HasSuffix(b, separator)
}

// groupBefore is where the group before the one at from starts, or -1 where none is, or
// something else stands between the two.
func groupBefore(b []byte, end, from int, separators [2][]byte) int {
	last := from
	for last > end && last > from-longestSeparator && !alnum[b[last-1]] {
		last--
	}
	first := last
	for first > end && first >= last-longestBits && alnum[b[first-1]] {
		first--
	}
	if first == last || last == from || groupEnd(b, first) != last {
		return -1
	}
	if between := b[last:from]; !bytes.Equal(between, separators[0]) && !bytes.Equal(between, separators[1]) && !holdsData(between, separators[0]) {
		return -1
	}
	return first
}

// groups looks at a stretch of short groups: without what stands between them, and
// as the numbers of characters.
func (d *dive) groups(b []byte) {
	first := groupEnd(b, 0)
	separator := b[first:max(first, separatorEnd(b, first))]
	if len(separator) == 0 {
		return
	}
	if separator[0] == '\\' { // escapes of the views, but for those in base 8
		if figures[b[0]] {
			d.codes(b, "octal codes", 8)
		}
		if joined := bytes.ReplaceAll(b, []byte(`\n`), nil); 2*len(joined) < len(b)+2*longestGroup {
			d.layer("spaced", joined, false)
		}
		return
	}
	joined := bytes.ReplaceAll(b, separator, nil)
	if first == 2 && len(joined) > 2*shortest && hexAlphabet.class.holds(joined) {
		d.digitsOf("hex", joined, hexAlphabet, 4, 1)
		if !figures.holds(joined) {
			return // no numbers of another base
		}
	}
	d.layer("spaced", joined, false)
	if rest := squeeze(b); !bytes.Equal(rest, joined) {
		d.layer("spaced", rest, false)
	}
	for _, how := range []struct {
		name string
		base int
	}{{"decimal codes", 10}, {"octal codes", 8}, {"hex codes", 16}} {
		d.codes(b, how.name, how.base)
	}
}

// squeeze is the letters and figures of a text.
func squeeze(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if alnum[c] {
			out = append(out, c)
		}
	}
	return out
}

// codes looks at groups that are numbers of characters in a base.
func (d *dive) codes(b []byte, name string, base int) {
	var out []byte
	flush := func() {
		if len(out) >= leastCodes {
			d.layer(name, out, false)
		}
		out = nil
	}
	for i := 0; i < len(b); {
		to := groupEnd(b, i)
		group := b[i:max(to, i)]
		if v, ok := code(group, base); ok {
			out = append(out, v)
		} else if len(group) != 1 || group[0]|0x20 != 'u' && group[0]|0x20 != 'x' { // U+0041, u{41}
			flush()
		}
		if i = separatorEnd(b, max(to, i)); i < 0 || to < 0 {
			break
		}
	}
	flush()
}

// code reads a number of one byte. One in base 16 says so by a letter before it:
// others are found without what stands between them.
func code(group []byte, base int) (byte, bool) {
	if base == 16 {
		i := bytes.IndexByte(group, 'x')
		for _, letter := range []byte("XuU") {
			i = max(i, bytes.IndexByte(group, letter))
		}
		if i < 0 && len(group) != len("0041") || i > 1 {
			return 0, false
		}
		group = group[i+1:]
	}
	v := 0
	for _, c := range group {
		digit := hexDigit(c)
		if digit < 0 || digit >= base {
			return 0, false
		}
		if v = v*base + digit; v > 0xff {
			return 0, false
		}
	}
	return byte(v), len(group) > 0
}

// numerals looks at figures without anything between them: bits, and decimal codes.
func (d *dive) numerals(b []byte) {
	const leastBits = 8 * shortest
	for from, to := range zeroOne.runs(b, leastBits) {
		bits := make([]byte, to-from)
		for i, c := range b[from:to] {
			bits[i] = c - '0'
		}
		d.bits("bits", bits)
	}
	for from, to := range figures.runs(b, 2*leastCodes) {
		for skip := range 3 {
			d.layer("decimal codes", triples(b[from+skip:to]), false)
		}
		d.layer("decimal codes", unpadded(b[from:to]), false)
	}
}

// triples reads three figures for each byte, as far as they are bytes.
func triples(b []byte) []byte {
	var out []byte
	for ; len(b) >= 3; b = b[3:] {
		v := int(b[0]-'0')*100 + int(b[1]-'0')*10 + int(b[2]-'0')
		if v > 0xff {
			v = 0
		}
		out = append(out, byte(v))
	}
	return out
}

// unpadded reads visible characters of two or three figures each.
func unpadded(b []byte) []byte {
	var out []byte
	for len(b) > 1 {
		n := 2
		if b[0] < '3' {
			n = 3
		}
		v, _ := code(b[:min(n, len(b))], 10)
		out, b = append(out, v), b[min(n, len(b)):]
	}
	return out
}

// bits looks at bits, each in a byte of its own, in either order and with either sign.
func (d *dive) bits(name string, bits []byte) {
	for skip := range min(8, len(bits)) {
		var high, low []byte
		for rest := bits[skip:]; len(rest) >= 8; rest = rest[8:] {
			var h, l byte
			for i, bit := range rest[:8] {
				h |= bit << (7 - i)
				l |= bit << i
			}
			high, low = append(high, h), append(low, l)
		}
		for _, b := range [][]byte{high, low} {
			d.layer(name, b, false)
			d.layer(name, inverted(b), false)
		}
	}
}

func inverted(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		out[i] = ^c
	}
	return out
}
