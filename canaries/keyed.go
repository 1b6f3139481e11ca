package canaries

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"slices"
	"strings"
)

// keyed is a search for texts whose bytes were all changed by one unknown key. The
// difference between two neighbours does not depend on the key, so one search over the
// differences finds a text under every key. The first byte then tells the key.
type keyed struct {
	*matcher
	// between writes what the neighbours in b have between them, a byte for each pair.
	between func(dst, b []byte) []byte
	// key is the key under which b is the text. It is not ok where none is, and
	// zero where b is the text itself.
	key  func(b []byte, text string) (key int, ok bool)
	name string // a format for the key
	// fits says which texts can be found so; nil is all.
	fits func(text string) bool
	// plain are the texts by what their neighbours have between them, as patterns have it.
	plain map[string]string
}

// The searches of matcher.keyed, by their index.
const (
	byXor      = iota // each byte xor the key
	byRotation        // each letter moved on in its alphabet
	byShift           // each visible character moved on among the visible ones
)

const (
	// leastBetween is how many different pairs a text has at least that is looked
	// for under a key: "000000000000" is any byte, repeated.
	leastBetween = 6
	// leastLetters is how many letters are in a text that is looked for rotated.
	leastLetters = 6
)

// newKeyed are the searches for texts under a key, before they took any.
func newKeyed() []keyed {
	list := []keyed{
		byXor:      {between: xorBetween, key: xorKey, name: "xor 0x%02x"},
		byRotation: {between: rotationBetween, key: rotationKey, name: "rot%d", fits: func(text string) bool { return countLetters(text) >= leastLetters }},
		byShift:    {between: shiftBetween, key: shiftKey, name: "rot%d of ASCII", fits: func(text string) bool { return visible.holds([]byte(text)) }},
	}
	for i := range list {
		list[i].matcher, list[i].plain = &matcher{}, map[string]string{}
	}
	return list
}

// underKey are the texts that are looked for under a key where a needle is written in an
// encoding. The more texts there are, the slower the search is.
func underKey(encoding, needle string) []string {
	switch encoding {
	case "raw":
		return []string{needle}
	case "reversed":
		return []string{reversed(needle)}
	case "base64":
		return base64Forms(base64.RawStdEncoding, needle)
	case "base64url":
		return base64Forms(base64.RawURLEncoding, needle)
	case "hex":
		digits := hex.EncodeToString([]byte(needle))
		return []string{digits, strings.ToUpper(digits)}
	}
	return nil
}

// take takes the texts that are long and mixed enough. What finds one of them proves is hit.
func (k *keyed) take(hit int, texts []string) {
	for _, text := range texts {
		between := string(k.between(nil, []byte(text)))
		if len(text) < shortest || k.plain[between] != "" || distinct(between) < leastBetween || k.fits != nil && !k.fits(text) {
			continue
		}
		k.plain[between] = text
		k.patterns = append(k.patterns, pattern{text: between, hit: hit})
	}
}

// find calls found for each text in b that stands there under a key other than
// zero. between is room for its work, which it returns for the next call.
func (k *keyed) find(b, between []byte, found func(p *pattern, start, key int)) []byte {
	between = k.between(between[:0], b)
	k.scan(between, len(between), func(p *pattern, start int) {
		if key, ok := k.key(b[start:], k.plain[p.text]); ok && key != 0 {
			found(p, start, key)
		}
	})
	return between
}

// xorBetween is the exclusive or of each two neighbours.
func xorBetween(dst, b []byte) []byte {
	if len(b) < 2 {
		return dst
	}
	n := len(b) - 1
	dst = slices.Grow(dst, n)[:n]
	i := 0
	for ; i+9 <= len(b); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(b[i:])^binary.LittleEndian.Uint64(b[i+1:]))
	}
	for ; i < n; i++ {
		dst[i] = b[i] ^ b[i+1]
	}
	return dst
}

func xorKey(b []byte, text string) (int, bool) { return int(b[0] ^ text[0]), true }

// shiftPairs says how far apart two visible characters are, and 0xff where one is not visible.
var shiftPairs = func() *[256][256]byte {
	var t [256][256]byte
	for a := range 256 {
		for b := range 256 {
			t[a][b] = 0xff
			if visible[a] && visible[b] {
				t[a][b] = byte((b - a + visibleKinds) % visibleKinds)
			}
		}
	}
	return &t
}()

// visibleKinds is how many visible characters ASCII has.
const visibleKinds = '~' - '!' + 1

func shiftBetween(dst, b []byte) []byte {
	for i := 1; i < len(b); i++ {
		dst = append(dst, shiftPairs[b[i-1]][b[i]])
	}
	return dst
}

func shiftKey(b []byte, text string) (int, bool) {
	return (int(b[0]) - int(text[0]) + visibleKinds) % visibleKinds, true
}

// rotationPairs says of each two bytes what a rotation of letters leaves of them:
// of two letters their distance, of another byte itself.
var rotationPairs = func() *[256][256]byte {
	var t [256][256]byte
	for a := range 256 {
		for b := range 256 {
			switch from, to := letter(byte(a)), letter(byte(b)); {
			case to < 0:
				t[a][b] = byte(b)
			case from < 0:
				t[a][b] = 0x80
			default:
				t[a][b] = 0x80 | byte((to-from+26)%26) | byte(b)&0x20
			}
		}
	}
	return &t
}()

// rotationBetween is what stands in rotationPairs of each two neighbours.
func rotationBetween(dst, b []byte) []byte {
	for i := 1; i < len(b); i++ {
		dst = append(dst, rotationPairs[b[i-1]][b[i]])
	}
	return dst
}

// rotationKey is by how many places the text's letters were moved.
func rotationKey(b []byte, text string) (int, bool) {
	if len(b) < len(text) {
		return 0, false
	}
	key := -1
	for i := range len(text) {
		from, to := letter(text[i]), letter(b[i])
		switch {
		case from < 0 || to < 0:
			if b[i] != text[i] {
				return 0, false
			}
		case key < 0:
			key = (to - from + 26) % 26
		case (from+key)%26 != to:
			return 0, false
		}
		if from >= 0 && (b[i]^text[i])&0x20 != 0 {
			return 0, false
		}
	}
	return max(key, 0), true
}

// letter is the place of a letter in its alphabet, negative for another byte.
func letter(c byte) int {
	if c |= 0x20; c >= 'a' && c <= 'z' {
		return int(c - 'a')
	}
	return -1
}

func countLetters(s string) int {
	n := 0
	for i := range len(s) {
		if letter(s[i]) >= 0 {
			n++
		}
	}
	return n
}

// distinct is how many different bytes are in a text.
func distinct(s string) int {
	var seen [4]uint64
	for i := range len(s) {
		seen[s[i]>>6] |= 1 << (s[i] & 63)
	}
	n := 0
	for _, part := range seen {
		n += bits.OnesCount64(part)
	}
	return n
}
