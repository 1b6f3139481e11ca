package text

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"unicode/utf8"
)

// Quick reports whether Scan would surely find nothing in this text, or in the
// strings of this JSON: most of what crosses a wire can be told so at a
// hundredth of the cost. It is never true where Scan finds a place.
func Quick(s []byte) bool {
	l := look(s)
	switch {
	// A JSON escape may stand for any character.
	case !l.shown || l.long || l.slash && bytes.Contains(s, []byte(`\u`)):
		return false
	case !l.signed:
		return true
	}
	words := wordsOf(lowered(s))
	return words.possible() == 0 && !words.foreign() && !words.turned() && !words.structured()
}

// looked is what one look tells of a text.
type looked struct {
	// ascii says that all characters are ASCII, shown that all are shown too.
	ascii, shown bool
	// signed says that a word or a tag stands there without one of which no order does; long that
	// a run, or percent escapes, may encode others.
	signed, long bool
	slash        bool
}

func look[T string | []byte](s T) looked {
	odd, first, h := byte(0), false, uint16(0)
	signed := triples()
	for i := range len(s) {
		c := s[i]
		odd |= kind[c]
		// The last three characters, five bits of each: the case does not count.
		h = h<<5 ^ uint16(c&0x1F)
		if key := h & 0x7FFF; signed[key>>6]&(1<<(key&63)) != 0 && !first {
			first = isSign(s, i-2, key)
		}
	}
	return looked{
		ascii: odd&beyond == 0, shown: odd&unshown == 0, slash: odd&slash != 0,
		long:   hasRun(s) || odd&percent != 0 && isEscaped(s),
		signed: first || odd&angle != 0 || odd&square != 0 && hasTag(s),
	}
}

// hasRun reports whether a text has a run of characters that may encode others. Most of the text
// is not looked at: a run covers one of each minRun characters.
func hasRun[T string | []byte](s T) bool {
	var end int
	for i := minRun - 1; i < len(s); i = end + minRun {
		if end = i; kind[s[i]]&encoded == 0 {
			continue
		}
		from := i
		for from > 0 && kind[s[from-1]]&encoded != 0 {
			from--
		}
		for end < len(s) && kind[s[end]]&encoded != 0 {
			end++
		}
		if end-from >= minRun {
			return true
		}
	}
	return false
}

// hasFolding reports whether a text holds one of the two characters that match a letter of
// ASCII in any case.
func hasFolding(s string) bool { return strings.Contains(s, "\u017F") || strings.Contains(s, "\u212A") }

const (
	unshown = 1 << iota
	angle
	square
	slash
	// encoded are the characters of runs that are decoded: what JSON escapes in
	// them, and the ends of lines, do not end a run.
	encoded
	percent
	// beyond are the bytes that are no ASCII.
	beyond
)

var kind, lower = func() (k, l [256]byte) {
	for c := range 256 {
		l[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			l[c] |= 0x20
		}
		switch {
		case c >= 0x7F, c < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\f':
			k[c] = unshown
			if c >= utf8.RuneSelf {
				k[c] |= beyond
			}
		case c == '<':
			k[c] = angle
		case c == '[':
			k[c] = square
		case c == '\\':
			k[c] = slash
		case c == '%':
			k[c] = percent
		}
		if isEncoded(byte(c)) || c == '\\' || c == '\n' || c == '\r' {
			k[c] |= encoded
		}
	}
	return k, l
}()

// hasTag reports whether a square bracket opens what may be a tag.
func hasTag[T string | []byte](s T) bool {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '[' && strings.IndexByte("sSiIaA \t\n\r\f\\", s[i+1]) >= 0 {
			return true
		}
	}
	return false
}

// triple is three characters, as look counts them.
func triple(w []byte) (h uint16) {
	for _, c := range w[:3] {
		h = h<<5 ^ uint16(c&0x1F)
	}
	return h & 0x7FFF
}

// byTriple are the signs by their first three characters.
var byTriple = sync.OnceValue(func() map[uint16][][]byte {
	out := map[uint16][][]byte{}
	for _, w := range signs() {
		out[triple(w)] = append(out[triple(w)], w)
	}
	return out
})

// triples has a bit for each key of byTriple.
var triples = sync.OnceValue(func() *[512]uint64 {
	t := &[512]uint64{}
	for h := range byTriple() {
		t[h>>6] |= 1 << (h & 63)
	}
	return t
})

// isSign reports whether a sign stands at i that begins with these three characters.
func isSign[T string | []byte](s T, i int, h uint16) bool {
	for _, w := range byTriple()[h] {
		if i < 0 || len(s)-i < len(w) {
			continue
		}
		k := 0
		for k < len(w) && lower[s[i+k]] == w[k] {
			k++
		}
		if k == len(w) {
			return true
		}
	}
	return false
}

func words(s string) (out [][]byte) {
	for _, w := range strings.Fields(s) {
		out = append(out, []byte(w))
	}
	return out
}

// signs are words: each alternative of poison and each order by structure holds one. Tags are recognised
// by their brackets.
var signs = sync.OnceValue(func() [][]byte {
	return append(words("ignor disregard forget overrid user secret ssh id_rsa id_ed25519 credentials netrc shadow mcp.json .kube tool "+foreignSigns()+" "+structureSigns()), turnedSigns()...)
})

// conditions are, for poisons in their order, the words in lists: the next poison
// holds one of each list: where a list has none of its words, they cannot match.
var conditions = []struct {
	poisons int
	lists   [][][]byte
}{
	{1, [][][]byte{words("< ["), words("important system secret hidden instruct sys admin overrid critical inst"), words("read send pass include ignore not don't dont never must always before reveal call")}},
	{1, [][][]byte{words("ignor disregard forget overrid"), words("instruct prompt rule directive guideline message")}},
	{1, [][][]byte{words("user"), words("tell mention inform notif reveal disclos show alert"), words("not don't dont never without avoid")}},
	{1, [][][]byte{words("hide conceal keep"), words("user secret")}},
	{1, [][][]byte{words(secretFiles), words("send include pass attach upload")}},
	{2, [][][]byte{words(secretFiles), words("read cat open load get fetch")}},
	{2, [][][]byte{words("tool"), words("must always"), words("before after prior when")}},
	{1, [][][]byte{words("tool"), words("server"), words("instead not never")}},
	{1, [][][]byte{words("user"), words("not"), words("know see told")}},
}

// secretFiles are parts of secretPlaces.
const secretFiles = "~/.ssh id_rsa id_ed25519 .aws/credentials ~/.netrc /etc/shadow mcp.json .git-credentials .kube/config"

// possible has a bit for each poison that has all the words that it needs in a text
// without what folds to ASCII.
func (p present) possible() (bits uint) {
	next := 0
	for i, c := range conditions {
		holds := p.eachOf(p.of.conditions[i])
		for range c.poisons {
			if holds {
				bits |= 1 << next
			}
			next++
		}
	}
	return bits
}

// lowered is a text with the letters of ASCII in lower case.
func lowered[T string | []byte](s T) []byte {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	low := make([]byte, len(s))
	copy(low, s)
	i := 0
	for ; i+8 <= len(low); i += 8 {
		// Of each byte that is no more than seven bits, the top bit tells whether it is
		// at least 'A', and whether it is more than 'Z'.
		w := binary.LittleEndian.Uint64(low[i:])
		seven := w &^ tops
		capital := (seven + ones*(0x80-'A')) &^ (seven + ones*(0x7F-'Z')) &^ w & tops
		binary.LittleEndian.PutUint64(low[i:], w|capital>>2)
	}
	for ; i < len(low); i++ {
		low[i] = lower[low[i]]
	}
	return low
}
