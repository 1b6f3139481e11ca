package canaries

import (
	"bytes"
	"strings"
)

// escape is a way to write single characters otherwise, or to put something
// between them. A secret may be escaped in any of its characters, so that no
// list of texts could hold all its spellings: a view undoes it.
type escape struct {
	name string
	// trigger is the byte with which every escape starts.
	trigger byte
	// read looks at what starts with the trigger. It gives the byte meant, or
	// drop for none, and the length of the escape: notEscape for what is none,
	// cutOff for what ends too early to tell.
	read func(b []byte) (value, n int)
}

const (
	drop      = -1
	notEscape = 0
	cutOff    = -1
	// longestEscape bounds what read looks at.
	longestEscape = 96
)

// escapes are the views of a text beside the text itself.
var escapes = []escape{
	{"percent", '%', readPercent},
	{"html", '&', readEntity},
	{"json", '\\', readBackslash},
	{"quoted-printable", '=', readQuoted},
	{"chunked", '\r', readChunk},
	{"labels", '.', readLabel},
	{"wrapped", '\n', readBreak},
	{"wrapped", '\r', readBreak},
	{"utf-16", 0, readZero},
}

// hexDigits16 are the values of the hexadecimal digits, negative for other bytes.
var hexDigits16 = func() (t [256]int8) {
	for c := range t {
		t[c] = int8(strings.IndexByte("0123456789abcdef", byte(c)|0x20))
		if byte(c) < '0' { // what the bit would make a digit of
			t[c] = -1
		}
	}
	return t
}()

// hexDigit is the value of a hexadecimal digit, negative for another byte.
func hexDigit(c byte) int { return int(hexDigits16[c]) }

// hexPair is the value of two hexadecimal digits, negative for others.
func hexPair(a, b byte) int { return int(hexDigits16[a])<<4 | int(hexDigits16[b]) }

// hexNumber reads n digits. The count is n, notEscape where there are others
// than digits, cutOff where there are not enough bytes.
func hexNumber(b []byte, n int) (value, count int) {
	for i := range n {
		if i >= len(b) {
			return 0, cutOff
		}
		d := hexDigit(b[i])
		if d < 0 {
			return 0, notEscape
		}
		value = value<<4 | d
	}
	return value, n
}

// mayBe reports whether b is a text, or the start of it.
func mayBe(b []byte, text string) bool { return strings.HasPrefix(text, string(b)) }

// readPercent reads %41, and %2541 and %252541, which were escaped again.
func readPercent(b []byte) (value, n int) {
	i := 1
	if len(b) > 2 {
		value = hexPair(b[1], b[2])
		if value < 0 {
			return 0, notEscape
		}
		if value != '%' { // by far the most
			return value, 3
		}
	}
	for range 3 {
		again, n := hexNumber(b[i:], 4)
		if n == cutOff && mayBe(b[i:min(len(b), i+2)], "25") {
			return 0, cutOff
		}
		if n <= 0 || again>>8 != 0x25 {
			break
		}
		i += 2
	}
	value, n = hexNumber(b[i:], 2)
	if n > 0 {
		n += i
	}
	return value, n
}

// readBackslash reads \u0041, \x41, \" and \/ behind any number of backslashes, as
// there are in JSON that stands in JSON.
func readBackslash(b []byte) (value, n int) {
	i := 1
	for i < len(b) && i < 16 && b[i] == '\\' {
		i++
	}
	if i == len(b) {
		return 0, cutOff
	}
	switch b[i] {
	case '/', '"':
		return int(b[i]), i + 1
	case 'r', 'n':
		return readWrap(b, i)
	case 'u':
		value, n = hexNumber(b[i+1:], 4)
	case 'x':
		value, n = hexNumber(b[i+1:], 2)
	}
	if n <= 0 {
		return 0, n
	}
	if value > 0xff {
		return 0, notEscape
	}
	return value, i + 1 + n
}

// readWrap reads the end of a line as strings of programs have it: \n or \r\n,
// of which b[i] is the first letter.
func readWrap(b []byte, i int) (value, n int) {
	rest := b[i+1:]
	if b[i] == 'r' {
		j := i + 1
		for j < len(b) && j < 2*i+1 && b[j] == '\\' {
			j++
		}
		if j == len(b) {
			return 0, cutOff
		}
		if j == i+1 || b[j] != 'n' {
			return 0, notEscape
		}
		rest = b[j+1:]
	}
	if n = goesOn(rest); n <= 0 {
		return 0, n
	}
	return drop, len(b) - len(rest)
}

// readBreak reads the end of a line behind which a long word goes on.
func readBreak(b []byte) (value, n int) {
	end := 1
	if b[0] == '\r' {
		if end = lineEnd(b); end <= 0 {
			return 0, end
		}
	}
	if n = goesOn(b[end:]); n <= 0 {
		return 0, n
	}
	return drop, end
}

// goesOn reports whether a line may be more of the one before: it starts with
// some digits, or is nothing but digits. More than zero is yes.
func goesOn(b []byte) int {
	const enough = 4
	for i := range enough {
		if i == len(b) {
			return cutOff
		}
		if !isDigit(b[i]) {
			if i > 0 && strings.IndexByte("\r\n=\"'\\<", b[i]) >= 0 {
				return 1
			}
			return notEscape
		}
	}
	return 1
}

// named are the entities that stand for what a secret may be made of.
var named = []struct {
	name  string
	value int
}{
	{"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''},
	{"plus;", '+'}, {"sol;", '/'}, {"equals;", '='}, {"lowbar;", '_'}, {"colon;", ':'}, {"period;", '.'},
}

// readEntity reads &#65;, &#x41; and the named ones, behind any number of amp;
// that were put there by escaping again.
func readEntity(b []byte) (value, n int) {
	const amp = "amp;"
	i, again := 1, 0
	for ; again < 4 && i < len(b) && b[i] == 'a'; again++ {
		rest := b[i:]
		if len(rest) < len(amp) && mayBe(rest, amp) {
			return 0, cutOff
		}
		if !bytes.HasPrefix(rest, []byte(amp)) {
			break
		}
		i += len(amp)
	}
	value, n = readEntityName(b[i:])
	if n == notEscape && again > 0 {
		return '&', i
	}
	if n > 0 {
		n += i
	}
	return value, n
}

// readEntityName reads what stands behind an ampersand.
func readEntityName(b []byte) (value, n int) {
	if len(b) == 0 {
		return 0, cutOff
	}
	if b[0] == '#' {
		return readEntityNumber(b)
	}
	if strings.IndexByte("lgqapesc", b[0]) < 0 {
		return 0, notEscape
	}
	for _, e := range named {
		if len(b) < len(e.name) && mayBe(b, e.name) {
			return 0, cutOff
		}
		if bytes.HasPrefix(b, []byte(e.name)) {
			return e.value, len(e.name)
		}
	}
	return 0, notEscape
}

func readEntityNumber(b []byte) (value, n int) {
	i, base := 1, 10
	if i < len(b) && b[i]|0x20 == 'x' {
		i, base = 2, 16
	}
	first := i
	for ; i < len(b) && i < first+8; i++ {
		d := hexDigit(b[i])
		if d < 0 || d >= base {
			break
		}
		value = value*base + d
	}
	switch {
	case i == len(b):
		return 0, cutOff
	case b[i] != ';' || i == first || value > 0xff:
		return 0, notEscape
	}
	return value, i + 1
}

// readQuoted reads =41, and the end of a line that is none.
func readQuoted(b []byte) (value, n int) {
	if len(b) < 2 {
		return 0, cutOff
	}
	if len(b) > 2 {
		if value = hexPair(b[1], b[2]); value >= 0 {
			return value, 3
		}
	}
	switch {
	case b[1] == '\n':
		return drop, 2
	case b[1] == '\r' && len(b) < 3:
		return 0, cutOff
	case b[1] == '\r' && b[2] == '\n':
		return drop, 3
	}
	value, n = hexNumber(b[1:], 2)
	if n > 0 {
		n++
	}
	return value, n
}

// readChunk reads what stands between two chunks of HTTP/1.1: the end of one
// and the size of the next. Digits may be a chunk as well as its size: the
// next bytes tell.
func readChunk(b []byte) (value, n int) {
	const first, extension = 2, 24
	if len(b) < first+1 {
		return 0, cutOff
	}
	if b[1] != '\n' || hexDigit(b[first]) < 0 {
		return 0, notEscape
	}
	i, size := first, 0
	for ; i < len(b) && i < first+8 && hexDigit(b[i]) >= 0; i++ {
		size = size<<4 | hexDigit(b[i])
	}
	for spaces := 0; i < len(b) && b[i] == ' ' && spaces < 4; spaces++ {
		i++
	}
	if i < len(b) && b[i] == ';' {
		for from := i; i < len(b) && i < from+extension && b[i] != '\r' && b[i] != '\n'; {
			i++
		}
	}
	switch lineEnd(b[i:]) {
	case cutOff:
		return 0, cutOff
	case notEscape:
		return 0, notEscape
	}
	if n = followsSize(b[i+2:], size); n > 0 {
		return drop, i + 2
	}
	return 0, n
}

// followsSize reports whether what follows may be a chunk of a size: more than
// zero for yes, else notEscape or cutOff.
func followsSize(b []byte, size int) int {
	const near = 40
	if size <= near {
		if len(b) < size+2 {
			return cutOff
		}
		return lineEnd(b[size:])
	}
	for i := range 9 {
		if i >= len(b) {
			return cutOff
		}
		if hexDigit(b[i]) >= 0 {
			continue
		}
		if i == 0 {
			return 1
		}
		switch lineEnd(b[i:]) {
		case cutOff:
			return cutOff
		case notEscape:
			return 1
		}
		return notEscape // a line of digits so soon is the next size
	}
	return 1
}

// lineEnd reports whether b starts with the end of a line: 2 for yes, else
// notEscape or cutOff.
func lineEnd(b []byte) int {
	switch {
	case len(b) > 0 && b[0] != '\r' || len(b) > 1 && b[1] != '\n':
		return notEscape
	case len(b) < 2:
		return cutOff
	}
	return 2
}

// readZero reads the zero bytes that UTF-16 and UTF-32 put between the characters
// of ASCII. More of them are padding, which no text goes on over.
func readZero(b []byte) (value, n int) {
	const widest = 3
	for n < len(b) && n < longestEscape && b[n] == 0 {
		n++
	}
	switch {
	case n <= widest && n == len(b):
		return 0, cutOff
	case n <= widest:
		return drop, n
	}
	return 0, n
}

// readLabel reads the dot between two labels of a name.
func readLabel(b []byte) (value, n int) {
	if len(b) < 2 {
		return 0, cutOff
	}
	if !isDigit(b[1]) || b[1] == '/' || b[1] == '+' {
		return 0, notEscape
	}
	return drop, 1
}
