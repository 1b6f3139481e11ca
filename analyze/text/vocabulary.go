package text

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// present are the words of the vocabulary that a text holds.
type present []uint64

// vocabulary is the words that tell what a text cannot match, found in one pass: a word by
// its first three bytes, or by all of fewer.
type vocabulary struct {
	ids      map[string]int
	byTriple [1 << 15][]int
	byPair   [1 << 10][]int
	byByte   [1 << 8][]int
	words    [][]byte
	// ends has a bit for each three bytes that a word begins with, or that end in a word of two.
	// It is small: most bytes of a text are looked at no further.
	ends [1 << 15 / 64]uint64
	// foreign are the ids of foreignWords, and phrases those of each of structureWords.
	foreign []int
	phrases [][]int
}

var known = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{ids: map[string]int{}}
	for _, c := range conditions {
		for _, list := range c.lists {
			v.add(list)
		}
	}
	for _, f := range foreign() {
		for _, list := range slices.Concat(f.disregards, f.silences) {
			v.add(list)
		}
	}
	v.add(turnedSigns())
	v.add(foreignWords())
	for _, phrase := range structureWords() {
		v.add(phrase)
		v.phrases = append(v.phrases, v.idsOf(phrase))
	}
	v.foreign = v.idsOf(foreignWords())
	return v
})

// idsOf are the ids of words that were added.
func (v *vocabulary) idsOf(list [][]byte) (ids []int) {
	for _, w := range list {
		ids = append(ids, v.ids[string(w)])
	}
	return ids
}

func (v *vocabulary) add(list [][]byte) {
	for _, w := range list {
		if _, there := v.ids[string(w)]; there {
			continue
		}
		id := len(v.words)
		v.ids[string(w)] = id
		v.words = append(v.words, w)
		switch len(w) {
		case 0:
		case 1:
			v.byByte[w[0]] = append(v.byByte[w[0]], id)
		case 2:
			h := uint16(w[0]&0x1F)<<5 | uint16(w[1]&0x1F)
			v.byPair[h] = append(v.byPair[h], id)
			for before := range uint16(1 << 5) {
				v.end(before<<10 | h)
			}
		default:
			h := triple(w)
			v.byTriple[h] = append(v.byTriple[h], id)
			v.end(h)
		}
	}
}

func (v *vocabulary) end(h uint16) { v.ends[h/64] |= 1 << (h % 64) }

// wordsOf are the words that a text in lower case holds.
func wordsOf(low []byte) present {
	v := known()
	out := make(present, len(v.words)/64+1)
	h := uint16(0)
	for i, c := range low {
		h = (h<<5 ^ uint16(c&0x1F)) & 0x7FFF
		for _, id := range v.byByte[c] {
			out[id/64] |= 1 << (id % 64)
		}
		if v.ends[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		for _, id := range v.byTriple[h] {
			if i >= 2 && out[id/64]&(1<<(id%64)) == 0 && bytes.HasPrefix(low[i-2:], v.words[id]) {
				out[id/64] |= 1 << (id % 64)
			}
		}
		for _, id := range v.byPair[h&0x3FF] {
			if i >= 1 && low[i-1] == v.words[id][0] && c == v.words[id][1] {
				out[id/64] |= 1 << (id % 64)
			}
		}
	}
	return out
}

// wordsIn are the words that a text holds in any case.
func wordsIn(s string) present { return wordsOf([]byte(strings.ToLower(s))) }

// eachOf reports whether a text holds a word of each of some lists.
// has reports whether a text holds the word with this id.
func (p present) has(id int) bool { return p[id/64]&(1<<(id%64)) != 0 }

// foreign reports whether a text holds a word without which no foreign order in ASCII is one.
func (p present) foreign() bool { return slices.ContainsFunc(known().foreign, p.has) }

// structured reports whether a text holds all words of an anchor, without which an ASCII one
// holds no order by structure.
func (p present) structured() bool {
	return slices.ContainsFunc(known().phrases, func(phrase []int) bool {
		return !slices.ContainsFunc(phrase, func(id int) bool { return !p.has(id) })
	})
}

func (p present) eachOf(lists [][][]byte) bool {
	ids := known().ids
	for _, list := range lists {
		if !slices.ContainsFunc(list, func(w []byte) bool { return p.has(ids[string(w)]) }) {
			return false
		}
	}
	return true
}

// alternatives are the words of lists, each parted by bars.
func alternatives(lists ...string) (out [][][]byte) {
	for _, list := range lists {
		var words [][]byte
		for w := range strings.SplitSeq(list, "|") {
			words = append(words, []byte(w))
		}
		out = append(out, words)
	}
	return out
}
