package text

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// present are the words of the vocabulary that a text holds.
type present []uint64

// vocabulary is the words that tell what a text cannot match, found in one pass: a word of
// three bytes or more by its first three.
type vocabulary struct {
	ids      map[string]int
	byTriple [1 << 15][]int
	words    [][]byte
	short    []int
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
	return v
})

func (v *vocabulary) add(list [][]byte) {
	for _, w := range list {
		if _, there := v.ids[string(w)]; there {
			continue
		}
		id := len(v.words)
		v.ids[string(w)] = id
		v.words = append(v.words, w)
		if len(w) < 3 {
			v.short = append(v.short, id)
			continue
		}
		h := triple(w)
		v.byTriple[h] = append(v.byTriple[h], id)
	}
}

// wordsOf are the words that a text in lower case holds.
func wordsOf(low []byte) present {
	v := known()
	out := make(present, len(v.words)/64+1)
	h := uint16(0)
	for i, c := range low {
		h = (h<<5 ^ uint16(c&0x1F)) & 0x7FFF
		for _, id := range v.byTriple[h] {
			if i >= 2 && out[id/64]&(1<<(id%64)) == 0 && bytes.HasPrefix(low[i-2:], v.words[id]) {
				out[id/64] |= 1 << (id % 64)
			}
		}
	}
	for _, id := range v.short {
		if bytes.Contains(low, v.words[id]) {
			out[id/64] |= 1 << (id % 64)
		}
	}
	return out
}

// wordsIn are the words that a text holds in any case.
func wordsIn(s string) present { return wordsOf([]byte(strings.ToLower(s))) }

// eachOf reports whether a text holds a word of each of some lists.
func (p present) eachOf(lists [][][]byte) bool {
	ids := known().ids
	for _, list := range lists {
		if !slices.ContainsFunc(list, func(w []byte) bool { id := ids[string(w)]; return p[id/64]&(1<<(id%64)) != 0 }) {
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
