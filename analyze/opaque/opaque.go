package opaque

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"hash/fnv"
	"math"
	"strings"
	"unicode/utf8"
)

// Span is a stretch of a text that looks random.
type Span struct {
	// Offset and Length say where it stands, in bytes.
	Offset, Length int
	// Sum tells equal stretches.
	Sum uint64
}

const (
	// leastBytes is how many random bytes a stretch holds at least: a digest of SHA-1 or
	// an identifier such as a UUID has fewer.
	leastBytes = 24
	// leastPiece is how many random bytes a piece holds at least, of what is cut into pieces.
	leastPiece = 8
	// leastInPieces is how many random bytes all pieces of a text hold at least: two
	// identifiers have fewer.
	leastInPieces = 40
	// maxSpans bounds what is found in one text.
	maxSpans = 256
)

// Spans finds the stretches of a text that look random. It takes linear time.
func Spans(data []byte) []Span {
	var out []Span
	if !utf8.Valid(data) {
		if len(data) >= leastBytes && random(data) {
			return []Span{newSpan(data, 0, len(data))}
		}
	}
	var cut pieces
	for i := 0; i < len(data) && len(out) < maxSpans; {
		n := run(data[i:])
		if n > leastPiece {
			switch b := decoded(data[i : i+n]); {
			case random(b):
				out = append(out, newSpan(data, i, n))
			case len(b) >= leastPiece && len(b) < leastBytes:
				cut.add(b, i, n)
			}
		}
		i += max(n, 1)
	}
	out = cut.appendTo(out, data)
	return numbers(out, data)
}

// pieces are short runs that look random together.
type pieces struct {
	bytes    []byte
	from, to int
}

func (p *pieces) add(b []byte, at, n int) {
	if len(p.bytes) == 0 {
		p.from = at
	}
	p.bytes, p.to = append(p.bytes, b...), at+n
}

// appendTo adds the pieces as one span, where they make one that no other overlaps.
func (p *pieces) appendTo(out []Span, data []byte) []Span {
	if len(out) > 0 || len(p.bytes) < leastInPieces || !random(p.bytes) {
		return out
	}
	return append(out, newSpan(data, p.from, p.to-p.from))
}

// numbers adds a list of bytes that are written as numbers, where there is one and nothing else.
func numbers(out []Span, data []byte) []Span {
	if len(out) > 0 {
		return out
	}
	var list []byte
	from, gap := 0, 0
	for i := 0; i < len(data); {
		if classes[data[i]] != number {
			gap++
			i++
			continue
		}
		n, k := 0, i
		for ; k < len(data) && k < i+4 && data[k] >= '0' && data[k] <= '9'; k++ {
			n = n*10 + int(data[k]-'0')
		}
		if n > 255 || gap > maxGap || len(list) == 0 {
			if random(list) {
				return append(out, newSpan(data, from, i-gap-from))
			}
			list, from = list[:0], i
		}
		if n <= 255 {
			list = append(list, byte(n))
		}
		i, gap = k, 0
	}
	if random(list) {
		out = append(out, newSpan(data, from, len(data)-gap-from))
	}
	return out
}

// maxGap is how many bytes may stand between two numbers of a list.
const maxGap = 3

func newSpan(data []byte, at, n int) Span {
	return Span{Offset: at, Length: n, Sum: Sum(data[at : at+n])}
}

// Sum tells equal texts (FNV-1a, 64 bits).
func Sum(text []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(text) // it never fails
	return h.Sum64()
}

// run is the length of the run of digits of base 64, in either alphabet, at the begin of a text.
// "=" ends it: as its padding, or between a key and a value.
func run(text []byte) int {
	i := 0
	for i < len(text) && classOf(text[i]) != other && text[i] != '=' {
		i++
	}
	for n := 0; n < 2 && i > 0 && i < len(text) && text[i] == '='; n++ {
		i++
	}
	return i
}

// decoded are the bytes that a run of digits stands for, nil for words, paths and the like.
func decoded(text []byte) []byte {
	if !mixed(text) {
		return nil
	}
	digits := bytes.TrimRight(text, "=")
	// A UUID is hexadecimal with dashes.
	if b, err := hex.DecodeString(strings.ReplaceAll(string(digits), "-", "")); err == nil {
		return b
	}
	if 8*signs(digits) > max(len(digits), leastSigned) {
		return nil // words that signs part, as a form does
	}
	often := changes(digits)
	if b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(string(digits)); err == nil && often >= leastOfBase32 {
		return b
	}
	if often < leastOfBase64 {
		return nil
	}
	plain := make([]byte, len(digits))
	for i, c := range digits {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		plain[i] = c
	}
	b, err := base64.RawStdEncoding.DecodeString(string(plain[:len(plain)/4*4]))
	if err != nil {
		return nil
	}
	return b
}

// mixed reports whether a run has letters and numbers.
func mixed(digits []byte) bool {
	var has [sign + 1]bool
	for _, c := range digits {
		has[classOf(c)] = true
	}
	return has[number] && (has[small] || has[capital])
}

// The classes of the digits of base 64.
const (
	other = iota
	number
	small
	capital
	sign
)

func classOf(c byte) int { return int(classes[c]) }

var classes = func() (out [256]uint8) {
	for i := range out {
		switch c := byte(i); {
		case c >= '0' && c <= '9':
			out[i] = number
		case c >= 'a' && c <= 'z':
			out[i] = small
		case c >= 'A' && c <= 'Z':
			out[i] = capital
		case c == '+', c == '/', c == '-', c == '_', c == '=':
			out[i] = sign
		}
	}
	return out
}()

// How often two neighbours are of different classes at least: digits of base 64 at random are
// in 64 of 100 places, those of base 32 in 30, words and paths of programs in fewer than 40.
const (
	leastOfBase64 = 45
	leastOfBase32 = 15
)

// leastSigned is how long a run counts as at least, for how many signs it may have: of digits at
// random one in 32 is a sign, and fewer than one run in 200 has more than one in eight.
const leastSigned = 32

func signs(digits []byte) (n int) {
	for _, c := range digits {
		if classOf(c) == sign {
			n++
		}
	}
	return n
}

// changes says in how many of 100 places the class changes.
func changes(digits []byte) int {
	n := 0
	for i := 1; i < len(digits); i++ {
		if classOf(digits[i]) != classOf(digits[i-1]) {
			n++
		}
	}
	return n * 100 / max(len(digits)-1, 1)
}

// packed are the first bytes of what is compressed: who searches for decoys unpacks it.
var packed = [][]byte{{0x1f, 0x8b}, {0x78, 0x01}, {0x78, 0x5e}, {0x78, 0x9c}, {0x78, 0xda}, []byte("BZh"), []byte("PK\x03\x04")}

// random reports whether bytes look drawn: of so many drawn ones half have the highest bit,
// and so many are different.
func random(b []byte) bool {
	if len(b) < leastBytes {
		return false
	}
	for _, p := range packed {
		if bytes.HasPrefix(b, p) {
			return false
		}
	}
	b = b[:min(len(b), 4096)]
	var seen [256]bool
	high, different := 0, 0
	for _, c := range b {
		if c >= 0x80 {
			high++
		}
		if !seen[c] {
			seen[c] = true
			different++
		}
	}
	expected := 256 * (1 - math.Pow(255./256, float64(len(b))))
	return high*5 >= len(b) && high*5 <= len(b)*4 && float64(different) >= 0.75*expected
}
