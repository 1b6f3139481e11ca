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
	case !l.shown || l.long || l.slash && mayEscape(s):
		return false
	case !l.signed:
		return true
	}
	words := wordsOf(lowered(s))
	return words.possible() == 0 && !words.foreign() && !words.turned() && !words.structured()
}

// Shown reports whether a text, or the strings of this JSON, surely hold no character that is hidden: all are ASCII
// and shown, and no escape stands for another. It looks at eight bytes at once.
func Shown(s []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for i := 0; i < len(s); i += 8 {
		if i+8 <= len(s) {
			w := binary.LittleEndian.Uint64(s[i:])
			// Each term has a top bit set if the word holds a byte that is no ASCII, or one below a blank or DEL.
			if del := w ^ ones*0x7F; (w|(w-ones*' ')|(del-ones)&^del)&tops == 0 {
				continue
			}
		}
		for _, c := range s[i:min(i+8, len(s))] {
			if kind[c]&unshown != 0 {
				return false
			}
		}
	}
	return !mayEscape(s)
}

// mayEscape reports whether an escape of JSON may stand for a character of a word, or for one that is not shown.
func mayEscape(s []byte) bool {
	for i := 0; i+1 < len(s); i++ {
		n := bytes.IndexByte(s[i:], '\\')
		if n < 0 {
			return false
		}
		if i += n; i+1 < len(s) && (s[i+1] == 'u' || s[i+1] == '/' || s[i+1] == 'b') {
			return true
		}
	}
	return false
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
	odd, first, key := byte(0), false, uint(0)
	signed := signWords()
	for i := range len(s) {
		c := s[i]
		odd |= kind[c]
		key = nextKey(key, c)
		if signed.has[key/64%(keys/64)]>>(key%64)&1 != 0 && !first {
			first = isSign(s, i, signed.at(key))
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
		n := indexByte(s[i:], '[')
		if n < 0 {
			return false
		}
		if i += n; i+1 < len(s) && strings.IndexByte("sSiIaA \t\n\r\f\\", s[i+1]) >= 0 {
			return true
		}
	}
	return false
}

func indexByte[T string | []byte](s T, c byte) int {
	switch s := any(s).(type) {
	case string:
		return strings.IndexByte(s, c)
	case []byte:
		return bytes.IndexByte(s, c)
	}
	return -1
}

// signWords are the signs.
var signWords = sync.OnceValue(func() *beginnings { return newBeginnings(signs()) })

// isSign reports whether one of some signs stands in a text where their key's last character is at i, in any case.
func isSign[T string | []byte](s T, i int, list []beginning) bool {
	for n := range list {
		w := &list[n]
		from, k := i-w.back, 0
		if from < 0 || len(s)-from < len(w.word) {
			continue
		}
		for k < len(w.word) && lower[s[from+k]] == w.word[k] {
			k++
		}
		if k == len(w.word) {
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
// holds one of each list: where a list has none of its words, they cannot match. Lists of short words, for which
// the text is searched, come last.
var conditions = []struct {
	poisons int
	lists   [][][]byte
}{
	{1, [][][]byte{words("important system secret hidden instruct sys admin overrid critical inst"), words("read send pass include ignore not don't dont never must always before reveal call"), words("< [")}},
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
