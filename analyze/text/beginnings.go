package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// beginnings finds words by the four characters with which they begin, at all places of a text in one pass. What
// most places need of it is small: a bit for each key, and how many keys go before.
type beginnings struct {
	has    [keys / 64]uint64
	before [keys / 64]uint16
	// lists are the words of each key that has some, in the order of the keys.
	lists [][]beginning
}

// beginning is a word: head and mask are its first eight bytes, or fewer where it is shorter. back is how far before
// the last character of its key it begins.
type beginning struct {
	id, back   int
	word       []byte
	head, mask uint64
}

const (
	// keys is how many keys there are, and headLen how many bytes of a word a head has.
	keys    = 1 << 15
	headLen = 8
	// leastLong is how long a word is that is found by how it begins.
	leastLong = 3
)

// nextKey is the key of the last four characters, the latest of which is c: five bits of each, so that the case does
// not count, and three of the first.
func nextKey(key uint, c byte) uint { return (key<<4 ^ uint(c&0x1F)) & (keys - 1) }

// newBeginnings holds the words of at least three bytes, by their index.
func newBeginnings(words [][]byte) *beginnings {
	of := map[uint][]beginning{}
	for id, w := range words {
		if len(w) < leastLong {
			continue
		}
		var head, mask [headLen]byte
		copy(mask[:], bytes.Repeat([]byte{0xFF}, copy(head[:], w)))
		b := beginning{id, min(len(w), 4) - 1, w, binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(mask[:])}
		key := uint(0)
		for _, c := range w[:b.back+1] {
			key = nextKey(key, c)
		}
		of[key] = append(of[key], b)
		for before := uint(1); len(w) == leastLong && before < 8; before++ {
			of[key^before<<12] = append(of[key^before<<12], b) // any character goes before it
		}
	}
	x := &beginnings{}
	for key := range uint(keys) {
		if key%64 == 0 {
			x.before[key/64] = uint16(len(x.lists)) //nolint:gosec // there are at most 1<<15 of them
		}
		if of[key] != nil {
			x.has[key/64] |= 1 << (key % 64)
			x.lists = append(x.lists, of[key])
		}
	}
	return x
}

// at are the words of a key that has some.
func (x *beginnings) at(key uint) []beginning {
	below := x.has[key/64%(keys/64)] & (1<<(key%64) - 1)
	return x.lists[int(x.before[key/64%(keys/64)])+bits.OnesCount64(below)]
}

// stands reports whether the word stands in a text in lower case where the key's last character is at i.
func (w *beginning) stands(low []byte, i int) bool {
	if i < w.back {
		return false
	}
	low = low[i-w.back:]
	if len(low) < headLen {
		return bytes.HasPrefix(low, w.word)
	}
	return binary.LittleEndian.Uint64(low)&w.mask == w.head && (len(w.word) <= headLen || bytes.HasPrefix(low[headLen:], w.word[headLen:]))
}
