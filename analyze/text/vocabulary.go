package text

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// present are the words of the vocabulary that a text in lower case holds.
type present struct {
	of  *vocabulary
	low []byte
	// long has a bit for each word of at least three bytes. Of a shorter one, most texts are
	// never asked.
	long []uint64
}

// vocabulary is the words that tell what a text cannot match, found in one pass: a word by
// its first three bytes.
type vocabulary struct {
	ids      map[string]int
	byTriple [1 << 15][]int
	words    [][]byte
	// begins has a bit for each three bytes that a word begins with. It is small: most bytes
	// of a text are looked at no further.
	begins [1 << 15 / 64]uint64
	// foreign are the ids of foreignWords, and phrases those of each of structureWords, the
	// longest word first.
	foreign []int
	phrases [][]int
	// conditions, disregards, silences and turned are the ids of the lists of the same name.
	conditions, disregards, silences [][][]int
	turned                           [][]int
}

var known = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{ids: map[string]int{}}
	for _, c := range conditions {
		v.conditions = append(v.conditions, v.lists(c.lists))
	}
	for _, f := range foreign() {
		v.disregards, v.silences = append(v.disregards, v.lists(f.disregards)), append(v.silences, v.lists(f.silences))
	}
	v.turned = v.lists([][][]byte{turnedSigns()})
	v.foreign = v.idsOf(foreignWords())
	for _, phrase := range structureWords() {
		phrase = slices.SortedStableFunc(slices.Values(phrase), func(a, b []byte) int { return len(b) - len(a) })
		v.phrases = append(v.phrases, v.idsOf(phrase))
	}
	return v
})

// lists are the ids of the words of each list.
func (v *vocabulary) lists(words [][][]byte) (out [][]int) {
	for _, list := range words {
		out = append(out, v.idsOf(list))
	}
	return out
}

// idsOf are the ids of words, which it adds.
func (v *vocabulary) idsOf(list [][]byte) (ids []int) {
	for _, w := range list {
		id, there := v.ids[string(w)]
		if !there {
			id = len(v.words)
			v.ids[string(w)], v.words = id, append(v.words, w)
			if len(w) >= leastLong {
				h := triple(w)
				v.byTriple[h] = append(v.byTriple[h], id)
				v.begins[h/64] |= 1 << (h % 64)
			}
		}
		ids = append(ids, id)
	}
	return ids
}

// leastLong is how long a word is that is found by its first three bytes.
const leastLong = 3

// wordsOf are the words that a text in lower case holds. The text must not change while they
// are asked for.
func wordsOf(low []byte) present {
	v := known()
	p := present{v, low, make([]uint64, len(v.words)/64+1)}
	h := uint16(0)
	for i, c := range low {
		h = h<<5 ^ uint16(c&0x1F)
		key := h & 0x7FFF
		if v.begins[key/64]&(1<<(key%64)) == 0 || i < leastLong-1 {
			continue
		}
		for _, id := range v.byTriple[key] {
			if p.long[id/64]&(1<<(id%64)) == 0 && bytes.HasPrefix(low[i-(leastLong-1):], v.words[id]) {
				p.long[id/64] |= 1 << (id % 64)
			}
		}
	}
	return p
}

// wordsIn are the words that a text holds in any case.
func wordsIn(s string) present { return wordsOf([]byte(strings.ToLower(s))) }

// has reports whether a text holds the word with this id.
func (p present) has(id int) bool {
	if w := p.of.words[id]; len(w) < leastLong {
		return bytes.Contains(p.low, w)
	}
	return p.long[id/64]&(1<<(id%64)) != 0
}

// foreign reports whether a text holds a word without which no foreign order in ASCII is one.
func (p present) foreign() bool { return slices.ContainsFunc(p.of.foreign, p.has) }

// structured reports whether a text holds all words of an anchor, without which an ASCII one
// holds no order by structure.
func (p present) structured() bool {
	return slices.ContainsFunc(p.of.phrases, func(phrase []int) bool {
		return !slices.ContainsFunc(phrase, func(id int) bool { return !p.has(id) })
	})
}

// eachOf reports whether a text holds a word of each of some lists.
func (p present) eachOf(lists [][]int) bool {
	for _, list := range lists {
		if !slices.ContainsFunc(list, p.has) {
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
