package canaries

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// encoding is one way in which a secret may be written. To find another one
// that is text of its own, add a line to encodings; one that only escapes
// single characters, or puts something between them, is a line of escapes.
type encoding struct {
	name string
	// fold says that the case of letters carries nothing.
	fold bool
	// forms are the texts of which one is there wherever the needle is written
	// in this way, whatever stands around it.
	forms func(needle string) []string
	// rare says that only a dive looks for it: each text that the linear search has to
	// find makes it slower.
	rare bool
}

// encodings, in the order of preference: where two write a needle alike, the
// first names the hit.
var encodings = []encoding{
	{"raw", true, func(s string) []string { return []string{smallLetters(s)} }, false},
	{"base64", false, func(s string) []string { return base64Forms(base64.RawStdEncoding, s) }, false},
	{"base64url", false, func(s string) []string { return base64Forms(base64.RawURLEncoding, s) }, false},
	{"hex", true, func(s string) []string { return []string{hex.EncodeToString([]byte(s))} }, false},
	{"base32", true, func(s string) []string { return base32Forms(base32.StdEncoding, s) }, false},
	{"base32hex", true, func(s string) []string { return base32Forms(base32.HexEncoding, s) }, false},
	{"reversed", false, func(s string) []string { return []string{reversed(s)} }, false},
	{"rot13", false, func(s string) []string { return []string{rot13(s)} }, false},
	{"pairs swapped", false, func(s string) []string { return []string{swapPairs(s, 0), swapPairs(s, 1)} }, true},
	{"every second byte", false, func(s string) []string {
		return []string{string(every([]byte(s), 2)), string(every([]byte(s[min(1, len(s)):]), 2))}
	}, true},
	{"nibbles swapped", false, func(s string) []string { return []string{swapNibbles(s)} }, true},
	{"reversed+base64", false, func(s string) []string {
		return append(each(base64Forms(base64.RawStdEncoding, s), reversed), each(base64Forms(base64.RawURLEncoding, s), reversed)...)
	}, false},
	{"reversed+hex", true, func(s string) []string { return []string{reversed(hex.EncodeToString([]byte(s)))} }, false},
}

// base64Forms are the needle's digits at the three offsets at which it may
// start, without those at its ends that hold bits of its neighbours.
func base64Forms(enc *base64.Encoding, s string) []string {
	return digitForms(s, 3, 6, enc.EncodeToString)
}

// base32Forms are the same at the five offsets of base 32, in small letters.
func base32Forms(enc *base32.Encoding, s string) []string {
	return digitForms(s, 5, 5, func(b []byte) string { return strings.ToLower(enc.EncodeToString(b)) })
}

// digitForms are the needle's digits, of so many bits, at each offset.
func digitForms(s string, offsets, bits int, encode func([]byte) string) []string {
	if s == "" {
		return []string{""}
	}
	out := make([]string, 0, offsets)
	for before := range offsets {
		digits := encode(append(make([]byte, before), s...))
		from := (before*8 + bits - 1) / bits
		to := (before + len(s)) * 8 / bits
		out = append(out, digits[from:to])
	}
	return out
}

// each applies f to all of a list.
func each(list []string, f func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = f(s)
	}
	return out
}

// smallLetters is the text with its capital letters made small, those of ASCII alone: all
// other bytes stay.
func smallLetters(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// reversed is the text's bytes, last first.
func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// rot13 moves each letter by half the alphabet.
func rot13(s string) string {
	b := []byte(s)
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z':
			b[i] = 'a' + (c-'a'+13)%26
		case c >= 'A' && c <= 'Z':
			b[i] = 'A' + (c-'A'+13)%26
		}
	}
	return string(b)
}

// swapPairs swaps the bytes of each pair, the first of which starts behind so many
// bytes. Bytes without a partner are left out: their place holds a neighbour's.
func swapPairs(s string, skip int) string {
	b := []byte(s[min(skip, len(s)):])
	b = b[:len(b)&^1]
	for i := 0; i+1 < len(b); i += 2 {
		b[i], b[i+1] = b[i+1], b[i]
	}
	return string(b)
}

// swapNibbles swaps the two halves of each byte.
func swapNibbles(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = c<<4 | c>>4
	}
	return string(b)
}
