package canaries

import (
	"bytes"
	"unicode/utf8"
)

// leastHidden is how many bits are hidden at least where a secret is.
const leastHidden = 8 * shortest

// wide looks at characters of two or four bytes, in either order, and at bytes that
// were each written as a character of UTF-8.
func (d *dive) wide(b []byte) {
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], 0)
		if n < 0 {
			break
		}
		if z := i + n; z+3 < len(b) && b[z+1] != 0 && b[z+2] != 0 {
			i = z + 2
			continue
		}
		from := max(i, i+n-1)
		text, size := wideAt(b[from:])
		if len(text) >= shortest {
			d.at(from, from+size)
			d.layer("utf-16", text, false)
		}
		i = from + max(size, 2)
	}
	for from, to := range pairs.runs(b, 2*shortest) {
		var text []byte
		start := from
		for i := from; i < to; {
			if i+1 < to && b[i]|1 == 0xc3 && b[i+1]&0xc0 == 0x80 {
				text = append(text, b[i]<<6|b[i+1]&0x3f)
				i += 2
				continue
			}
			d.pairs(text, start, i)
			i++
			text, start = nil, i
		}
		d.pairs(text, start, to)
	}
}

// pairs are the bytes of which UTF-8 makes the characters from 128 to 255.
var pairs = func() *class {
	c := class{0xc2: true, 0xc3: true}
	for i := 0x80; i < 0xc0; i++ {
		c[i] = true
	}
	return &c
}()

// pairs looks at bytes that were each written as a character.
func (d *dive) pairs(text []byte, from, to int) {
	if len(text) >= shortest {
		d.at(from, to)
		d.layer("utf-8", text, false)
	}
}

// wideAt reads characters with zero bytes on one side of each, and says how much of
// b they are.
func wideAt(b []byte) (text []byte, size int) {
	const widest = 3
	zeros := 0
	for size < len(b) {
		if b[size] == 0 {
			if zeros++; zeros > widest && len(text) < shortest {
				for size < len(b) && b[size] == 0 { // padding
					size++
				}
				return nil, size
			}
			if zeros > widest {
				return text, size
			}
			size++
			continue
		}
		if zeros == 0 && len(text) > 0 {
			return text, size
		}
		text, zeros = append(text, b[size]), 0
		size++
	}
	return text, size
}

// hidden looks at what no reader sees: characters without a width, blanks at the end of lines.
func (d *dive) hidden(b []byte) {
	for _, start := range invisibleStarts {
		if bytes.IndexByte(b, start[0]) >= 0 && bytes.Count(b, start) >= shortest {
			d.invisible(b)
			break
		}
	}
	d.blanks(b)
	d.strings(b)
}

// invisibleStarts are how the characters that invisible looks at begin in UTF-8.
var invisibleStarts = [][]byte{[]byte("\xe2\x80"), []byte("\xe2\x81"), []byte("\xef\xbb\xbf"), []byte("\xef\xb8"), []byte("\xf3\xa0"), []byte("\xe1\xa0")}

// unseen is an invisible character: what it stands for, and where.
type unseen struct {
	r    rune
	at   int
	size int
}

// invisible looks at characters without a width: tags and selectors stand for a byte
// each, the others for bits.
func (d *dive) invisible(b []byte) {
	var tags, selectors, others []unseen
	for i := 0; i < len(b); {
		if b[i] < 0xe0 {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		u := unseen{r, i, size}
		switch {
		case r >= 0xe0020 && r <= 0xe007e:
			tags = append(tags, unseen{r - 0xe0000, i, size})
		case r >= 0xe0100 && r <= 0xe01ef:
			selectors = append(selectors, unseen{r - 0xe0100 + 16, i, size})
		case r >= 0xfe00 && r <= 0xfe0f:
			selectors = append(selectors, unseen{r - 0xfe00, i, size})
		case r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0x180e:
			others = append(others, u)
		}
		i += size
	}
	d.letters("tags", tags)
	d.letters("selectors", selectors)
	if len(others) < leastHidden {
		return
	}
	var zero, one rune
	bits := make([]byte, 0, len(others))
	for _, u := range others {
		switch {
		case zero == 0 || u.r == zero:
			zero = u.r
			bits = append(bits, 0)
		case one == 0 || u.r == one:
			one = u.r
			bits = append(bits, 1)
		}
	}
	last := others[len(others)-1]
	d.at(others[0].at, last.at+last.size)
	if len(bits) >= leastHidden {
		d.bits("zero-width", bits)
	}
}

// letters looks at invisible characters that stand for a byte each.
func (d *dive) letters(name string, list []unseen) {
	if len(list) < shortest {
		return
	}
	text := make([]byte, len(list))
	for i, u := range list {
		text[i] = byte(u.r)
	}
	last := list[len(list)-1]
	d.at(list[0].at, last.at+last.size)
	d.layer(name, text, false)
}

// blanks looks at blanks before the ends of lines: each is a bit, or whether there is one.
func (d *dive) blanks(b []byte) {
	const enough = leastHidden / 4
	var each, there []byte
	tabs, with, lines, first, last := 0, 0, 0, -1, 0
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			break
		}
		from, to := i, i+n
		if to > from && b[to-1] == '\r' {
			to--
		}
		if lines++; to == from || b[to-1] != ' ' && b[to-1] != '\t' {
			i += n + 1
			continue
		}
		line := b[from:to]
		tail := line[len(bytes.TrimRight(line, " \t")):]
		for len(there) < lines-1 {
			there = append(there, 0)
		}
		there = append(there, 1)
		with++
		last = i + n
		if first < 0 {
			first = i
		}
		for _, c := range tail {
			bit := byte(0)
			if c == '\t' {
				bit = 1
				tabs++
			}
			each = append(each, bit)
		}
		i += n + 1
	}
	if with == 0 {
		return
	}
	d.at(first, last)
	if len(each) >= leastHidden && tabs >= enough {
		d.bits("trailing blanks", each)
	}
	for len(there) < lines {
		there = append(there, 0)
	}
	if len(there) >= leastHidden && with >= enough && len(there)-with >= enough {
		d.bits("trailing blanks", there)
	}
}

// hidesInStrings reports whether b has escapes of what hidden looks at: of a character
// by its number, of a backslash, or of a line's end behind a blank.
func hidesInStrings(b []byte) bool {
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], '\\')
		if n < 0 || i+n+1 >= len(b) {
			return false
		}
		i += n
		switch b[i+1] {
		case 'u', '\\':
			return true
		case 'n':
			if i > 1 && (b[i-1] == ' ' || b[i-1] == 't' && b[i-2] == '\\') {
				return true
			}
		}
		i += 2
	}
	return false
}

// strings looks at strings with escapes as a program reads them: what a run is, it
// is there already, but not what has blanks or characters beyond ASCII.
func (d *dive) strings(b []byte) {
	if len(d.names)+1 >= maxDepth || !hidesInStrings(b) {
		return
	}
	for from := 0; from < len(b); {
		to := stringEnd(b, from)
		if part := b[from:to]; len(part) >= shortest && bytes.IndexByte(part, '\\') >= 0 && isText(part) {
			d.at(from, to)
			d.unquoted(part)
		}
		from = to + 1
	}
}

// stringEnd is where the string that starts at from ends: at a quote that is not escaped.
func stringEnd(b []byte, from int) int {
	for i := from; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		before := bytes.TrimRight(b[max(from, i-16):i], `\`)
		if (i-max(from, i-16)-len(before))%2 == 0 {
			return i
		}
	}
}

// isText reports whether b has no control characters, and something that is not in
// the runs of it: others than visible ones, escaped backslashes, or characters that a run would not have.
func isText(b []byte) bool {
	beyond := false
	for _, c := range b {
		if c < ' ' {
			return false
		}
		beyond = beyond || !visible[c]
	}
	return beyond || bytes.Contains(b, []byte(`\\`)) || bytes.Contains(b, []byte(`\u00`))
}

// unquoted looks at a string without its escapes.
func (d *dive) unquoted(b []byte) {
	plain := unquote(b)
	d.enter("json", len(plain), func() {
		if bytes.Contains(b, []byte(`\u00`)) || bytes.Contains(b, []byte(`\\`)) {
			d.match(plain)
			d.runs(plain)
			if bytes, ok := latin1(plain); ok {
				d.text(bytes, true)
			}
		}
		d.spaced(plain)
		d.wide(plain)
		d.hidden(plain)
	})
}

// latin1 are the bytes of a text that has characters up to 255 only, and some beyond ASCII.
func latin1(b []byte) ([]byte, bool) {
	out := make([]byte, 0, len(b))
	beyond := false
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c >= utf8.RuneSelf {
			if c|1 != 0xc3 || i+1 == len(b) || b[i+1]&0xc0 != 0x80 {
				return nil, false
			}
			i++
			c, beyond = c<<6|b[i]&0x3f, true
		}
		out = append(out, c)
	}
	return out, beyond
}

// unquote undoes the escapes of a string of JSON.
func unquote(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		if b[i] == 'u' {
			if v, n := hexNumber(b[i+1:], 4); n > 0 {
				i += n
				if v <= 0xff {
					out = append(out, byte(v))
				} else {
					out = utf8.AppendRune(out, rune(v))
				}
				continue
			}
		}
		c := b[i]
		switch c {
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		}
		out = append(out, c)
	}
	return out
}
