package canaries

import (
	"bytes"
)

// class is a set of bytes.
type class [256]bool

func classOf(chars string) *class {
	var c class
	for i := range len(chars) {
		c[chars[i]] = true
	}
	return &c
}

// without is the class without some bytes.
func (c *class) without(chars string) *class {
	out := *c
	for i := range len(chars) {
		out[chars[i]] = false
	}
	return &out
}

// holds reports whether all bytes of b are of the class.
func (c *class) holds(b []byte) bool {
	for _, v := range b {
		if !c[v] {
			return false
		}
	}
	return true
}

var (
	// visible are the visible characters of ASCII, unquoted those that stand in a
	// string as they are.
	visible = func() *class {
		var c class
		for i := '!'; i <= '~'; i++ {
			c[i] = true
		}
		return &c
	}()
	unquoted = visible.without(`"`)
	// words are the digits of base 64 in both alphabets, and so of most others.
	words = classOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
)

// runs are the longest runs of a class in b, of at least so many bytes. Most of b
// is not looked at: a run covers one of each so many bytes.
func (c *class) runs(b []byte, least int) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		end := 0
		for i := least - 1; i < len(b); {
			if !c[b[i]] {
				i += least
				continue
			}
			from, to := i, i+1
			for from > end && c[b[from-1]] {
				from--
			}
			for to < len(b) && c[b[to]] {
				to++
			}
			if to-from >= least && !yield(from, to) {
				return
			}
			end = to
			i = to + least
		}
	}
}

// count is how many characters of each kind are in the start of a run, and how often
// the kind changes. What stands between words, as in paths, is left out.
type count struct{ small, capitals, figures, changes int }

func countKinds(b []byte) (n count) {
	var last byte
	for _, c := range b[:min(len(b), 4*leastHex)] {
		k := charKinds[c]
		switch k {
		case 0:
			continue
		case 1:
			n.small++
		case 2:
			n.capitals++
		case 3:
			n.figures++
		}
		if k != last && last != 0 {
			n.changes++
		}
		last = k
	}
	return n
}

// encoded reports whether a run looks like digits and not like words: kinds of
// characters change often, or most are capital letters or figures.
func (n count) encoded() bool {
	const often = 6
	all := n.small + n.capitals + n.figures
	return all > 0 && (n.changes*often >= all || 4*n.small <= all && 2*n.capitals >= all || n.figures >= 2*shortest && 2*n.figures >= all)
}

// dense is what encoded reports, for digits of which a quarter change the kind at least.
func (n count) dense() bool {
	const often = 4
	return n.changes*often >= n.small+n.capitals+n.figures
}

func looksEncoded(b []byte) bool { return countKinds(b).encoded() }

// charKinds tells small letters, capital letters and figures apart from all else.
var charKinds = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = 1
		case c >= 'A' && c <= 'Z':
			t[c] = 2
		case c >= '0' && c <= '9':
			t[c] = 3
		}
	}
	return t
}()

// runs looks at the runs of visible characters, alone and over the ends of lines.
func (d *dive) runs(b []byte) {
	var lines [][2]int
	for from, to := range visible.runs(b, shortest) {
		if n := len(lines); n > 0 && (lines[n-1][1]-lines[n-1][0] < leastLine || !isBreak(b[lines[n-1][1]:from])) {
			d.lines(b, lines)
			lines = lines[:0]
		}
		lines = append(lines, [2]int{from, to})
	}
	d.lines(b, lines)
}

// leastLine is how long a line is that may go on in the next one.
const leastLine = 20

func isBreak(b []byte) bool { return string(b) == "\n" || string(b) == "\r\n" }

// lines looks at runs that may be lines of one text.
func (d *dive) lines(b []byte, lines [][2]int) {
	const enough = 4
	if len(lines) == 0 {
		return
	}
	alike := 0
	for _, l := range lines {
		if middle := lines[len(lines)/2]; l[1]-l[0] == middle[1]-middle[0] {
			alike++
		}
	}
	last := lines[len(lines)-1][1]
	if tail := shortTail(b[last:]); len(lines) > 1 && tail > 0 && last-lines[len(lines)-1][0] >= leastLine {
		lines = append(lines[:len(lines):len(lines)], [2]int{last + tail, last + tail + visibleLen(b[last+tail:])})
	}
	if len(lines) > 1 {
		var whole []byte
		for _, l := range lines {
			whole = append(whole, b[l[0]:l[1]]...)
		}
		d.at(lines[0][0], lines[len(lines)-1][1])
		d.enter("wrapped", len(whole), func() { d.runs(whole) })
	}
	if alike >= enough {
		return // lines of one length are one text
	}
	for _, l := range lines {
		d.at(l[0], l[1])
		d.known(b[l[0]:l[1]])
	}
}

// shortTail is the length of a line's end behind which a last line follows that is
// too short for a run, or zero.
func shortTail(b []byte) int {
	n := 1
	if bytes.HasPrefix(b, []byte("\r\n")) {
		n = 2
	}
	if len(b) <= n || b[n-1] != '\n' {
		return 0
	}
	if size := visibleLen(b[n:]); size == 0 || size >= shortest {
		return 0
	}
	return n
}

// visibleLen is how many visible characters b starts with.
func visibleLen(b []byte) int {
	n := 0
	for n < len(b) && visible[b[n]] {
		n++
	}
	return n
}

// known looks at a run of visible characters, but for a short one in which nothing
// was found before.
func (d *dive) known(b []byte) {
	if len(d.names) > 0 || len(b) > longestBarren {
		d.run(b)
		return
	}
	if d.barren[string(b)] {
		return
	}
	finds := len(d.finds)
	d.run(b)
	if len(d.finds) == finds && d.left > 0 && d.spare > 0 {
		d.barren[string(b)] = true
	}
}

// run looks at a run of visible characters.
func (d *dive) run(b []byte) {
	d.keyed(b, byRotation, nil)
	d.keyed(b, byShift, nil)
	if len(b) < leastRun || len(d.names) == maxDepth {
		return
	}
	word := words.holds(b)
	if word {
		d.word(b, countKinds(b))
	} else {
		d.unescape(b)
		d.digits(b)
	}
	if d.turned || word && len(b) > maxTurned {
		return
	}
	left := maxTurned
	for from, to := range words.runs(b, leastRun) {
		if left < leastRun {
			break
		}
		if run := b[from:to]; len(run) <= left {
			if n := countKinds(run); n.encoded() {
				left -= len(run)
				d.turn(string(run), n)
			}
		}
	}
}

// hasSymbols reports whether a run has as many kinds of characters beside letters and
// figures as digits of base 85 have at least: those of a text are letters mostly.
func hasSymbols(b []byte) bool {
	const every, enough = 24, 3
	var seen class
	kinds := 0
	want := min(enough, len(b)/every+1)
	for _, c := range b[:min(len(b), 4*leastHex)] {
		if charKinds[c] == 0 && !seen[c] {
			seen[c] = true
			if kinds++; kinds >= want {
				return true
			}
		}
	}
	return false
}

// turn looks at a run in another order, and with other letters.
func (d *dive) turn(s string, n count) {
	d.turnedWord("reversed", []byte(reversed(s)), n)
	d.turnedWord("pairs swapped", []byte(swapPairs(s, 0)), n)
	if !hexAlphabet.class.holds([]byte(s)) { // which rotation would not leave
		d.turnedWord("rot13", []byte(rot13(s)), n)
	}
}

// turnedWord looks at digits that were turned.
func (d *dive) turnedWord(name string, b []byte, n count) {
	d.enter(name, len(b), func() {
		d.turned = true
		d.m.deep.scan(b, len(b), func(p *pattern, _ int) { d.note(p.hit, "") })
		if len(d.names) < maxDepth {
			d.word(b, n)
		}
	})
}

// unescape looks at a run without its escapes, where it has any. The views find what is
// plain there, so only what an escape is part of can be new.
func (d *dive) unescape(b []byte) {
	for i := range escapes {
		e := &escapes[i]
		if e.trigger <= ' ' || bytes.IndexByte(b, e.trigger) < 0 {
			continue
		}
		d.undone(e, b)
		if e.trigger == '%' && bytes.IndexByte(b, '+') >= 0 { // a blank, in forms
			d.undone(e, bytes.ReplaceAll(b, []byte("+"), []byte(" ")))
		}
	}
}

// undone looks at a run without escapes of one kind.
func (d *dive) undone(e *escape, b []byte) {
	if text, escaped, codes := e.undo(b); len(escaped) > 0 {
		d.enter(e.name, len(text), func() { d.escaped(text, escaped, codes, e.trigger) })
	}
}

// escaped looks at a run of which the bytes at some places were escapes, so many of
// them numbers of characters.
func (d *dive) escaped(text []byte, places []int, codes int, trigger byte) {
	const many = 4
	if codes*many >= len(text) {
		d.text(text, places[0] == 0)
		if places[0] > 0 && len(d.names) < maxDepth {
			d.unpack(text[min(places[0], len(text)):], true)
		}
		return
	}
	part := words
	if codes > 0 {
		part = unquoted // digits of base 85
		d.keyed(text, byXor, nil)
	}
	if codes >= shortest {
		d.spaced(text)
	}
	if trigger == '\\' {
		part = visible
	}
	end := 0
	for _, at := range places {
		if at < end || at >= len(text) {
			continue
		}
		from := at
		for from > end && part[text[from-1]] {
			from--
		}
		for end = at; end < len(text) && part[text[end]]; {
			end++
		}
		if end-from >= leastRun && looksEncoded(text[from:end]) {
			d.run(text[from:end])
		}
		end = max(end, at+1)
	}
}

// undo is a text without its escapes, where in it they were, and how many of them are
// numbers of a character. One that is cut off stands for itself.
func (e *escape) undo(b []byte) (text []byte, places []int, codes int) {
	text, places = make([]byte, 0, len(b)), make([]int, 0, len(b)/8)
	for i := 0; i < len(b); {
		if b[i] != e.trigger {
			next := bytes.IndexByte(b[i:], e.trigger)
			if next < 0 {
				return append(text, b[i:]...), places, codes
			}
			text = append(text, b[i:i+next]...)
			i += next
		}
		value, n := e.read(b[i:])
		if n <= 0 {
			value, n = int(b[i]), 1
		} else {
			places = append(places, len(text))
			if n > 2 && value != drop {
				codes++
			}
		}
		if value != drop {
			text = append(text, byte(value))
		}
		i += n
	}
	return text, places, codes
}
