package text

import (
	"bytes"
	"math/bits"
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

// vocabulary is the words that tell what a text cannot match, found in one pass.
type vocabulary struct {
	ids   map[string]int
	words [][]byte
	long  *beginnings
	// foreign is one of foreignWords.
	foreign anyOf
	// phrases are the other words of each of structureWords, by the id of its longest word;
	// those of short words alone are in brief, whole.
	phrases [][][]int
	brief   [][]int
	// conditions, disregards, silences and turned are the lists of the same name.
	conditions, disregards, silences [][]anyOf
	turned                           []anyOf
}

// anyOf is a list of words, any of which is to stand in a text.
type anyOf struct {
	// long are the words of at least three bytes, as bits of present.long.
	long  []longWords
	short []int
}

// longWords are some bits of a number in present.long.
type longWords struct {
	at   int
	bits uint64
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
	v.foreign = v.anyOf(foreignWords())
	var phrases [][]int
	for _, phrase := range structureWords() {
		phrase = slices.SortedStableFunc(slices.Values(phrase), func(a, b []byte) int { return len(b) - len(a) })
		phrases = append(phrases, v.idsOf(phrase))
	}
	v.long = newBeginnings(v.words)
	v.phrases = make([][][]int, len(v.words))
	for _, ids := range phrases {
		if len(v.words[ids[0]]) < leastLong {
			v.brief = append(v.brief, ids)
		} else {
			v.phrases[ids[0]] = append(v.phrases[ids[0]], ids[1:])
		}
	}
	return v
})

// lists are lists of words, each of which needs one.
func (v *vocabulary) lists(words [][][]byte) (out []anyOf) {
	for _, list := range words {
		out = append(out, v.anyOf(list))
	}
	return out
}

func (v *vocabulary) anyOf(words [][]byte) (list anyOf) {
	for _, id := range slices.Sorted(slices.Values(v.idsOf(words))) {
		if len(v.words[id]) < leastLong {
			list.short = append(list.short, id)
			continue
		}
		n := len(list.long)
		if n == 0 || list.long[n-1].at != id/64 {
			list.long = append(list.long, longWords{at: id / 64})
			n++
		}
		list.long[n-1].bits |= 1 << (id % 64)
	}
	return list
}

// idsOf are the ids of words, which it adds.
func (v *vocabulary) idsOf(list [][]byte) (ids []int) {
	for _, w := range list {
		id, there := v.ids[string(w)]
		if !there {
			id = len(v.words)
			v.ids[string(w)], v.words = id, append(v.words, w)
		}
		ids = append(ids, id)
	}
	return ids
}

// wordsOf are the words that a text in lower case holds. The text must not change while they
// are asked for.
func wordsOf(low []byte) present {
	v := known()
	p := present{v, low, make([]uint64, len(v.words)/64+1)}
	key := uint(0)
	for i, c := range low {
		key = nextKey(key, c)
		if v.long.has[key/64%(keys/64)]>>(key%64)&1 == 0 {
			continue
		}
		list := v.long.at(key)
		for k := range list {
			if w := &list[k]; w.stands(low, i) {
				p.long[w.id/64] |= 1 << (w.id % 64)
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

// any reports whether a text holds a word of a list.
func (p present) any(list anyOf) bool {
	for _, l := range list.long {
		if p.long[l.at]&l.bits != 0 {
			return true
		}
	}
	return slices.ContainsFunc(list.short, p.has)
}

// all reports whether a text holds all of these words.
func (p present) all(ids []int) bool {
	for _, id := range ids {
		if !p.has(id) {
			return false
		}
	}
	return true
}

// foreign reports whether a text holds a word without which no foreign order in ASCII is one.
func (p present) foreign() bool { return p.any(p.of.foreign) }

// structured reports whether a text holds all words of an anchor, without which an ASCII one
// holds no order by structure.
func (p present) structured() bool {
	for at, word := range p.long {
		for ; word != 0; word &= word - 1 {
			if slices.ContainsFunc(p.of.phrases[at*64+bits.TrailingZeros64(word)], p.all) {
				return true
			}
		}
	}
	return slices.ContainsFunc(p.of.brief, p.all)
}

// eachOf reports whether a text holds a word of each of some lists.
func (p present) eachOf(lists []anyOf) bool {
	for _, list := range lists {
		if !p.any(list) {
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
