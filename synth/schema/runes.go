package schema

import (
	"math/rand"
	"sort"
	"unicode"
)

type runeRange struct{ lo, hi rune }

// runeSet is a sorted list of disjoint ranges.
type runeSet []runeRange

var (
	digits     = runeSet{{'0', '9'}}
	wordRunes  = runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaces     = runeSet{{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}, {0x2028, 0x2029}}
	notNewline = runeSet{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}.complement()
	printable  = runeSet{{' ', '~'}}
	alnum      = runeSet{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}
	lower      = runeSet{{'a', 'z'}}
)

// escapes are the one-letter classes and controls.
var escapes = map[rune]runeSet{
	'd': digits, 'D': digits.complement(), 'w': wordRunes, 'W': wordRunes.complement(),
	's': spaces, 'S': spaces.complement(),
	't': {{'\t', '\t'}}, 'n': {{'\n', '\n'}}, 'r': {{'\r', '\r'}}, 'f': {{'\f', '\f'}}, 'v': {{'\v', '\v'}}, '0': {{0, 0}},
}

var longCategories = map[string]string{
	"Letter": "L", "Lowercase_Letter": "Ll", "Uppercase_Letter": "Lu", "Number": "N", "Decimal_Number": "Nd",
	"Punctuation": "P", "Symbol": "S", "Separator": "Z", "Mark": "M", "digit": "Nd", "Other": "C",
}

func (s runeSet) single() bool { return len(s) == 1 && s[0].lo == s[0].hi }

func (s runeSet) normal() runeSet {
	sort.Slice(s, func(i, j int) bool { return s[i].lo < s[j].lo })
	out := runeSet{}
	for _, r := range s {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

// complement is every other character that text can hold; surrogates cannot.
func (s runeSet) complement() runeSet {
	out := runeSet{}
	next := rune(0)
	for _, r := range append(s[:len(s):len(s)], runeRange{unicode.MaxRune + 1, unicode.MaxRune + 1}) {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = max(next, r.hi+1)
	}
	return out.without(runeRange{0xd800, 0xdfff})
}

func (s runeSet) without(x runeRange) runeSet {
	out := runeSet{}
	for _, r := range s {
		if r.hi < x.lo || r.lo > x.hi {
			out = append(out, r)
			continue
		}
		if r.lo < x.lo {
			out = append(out, runeRange{r.lo, x.lo - 1})
		}
		if r.hi > x.hi {
			out = append(out, runeRange{x.hi + 1, r.hi})
		}
	}
	return out
}

func (s runeSet) within(t runeSet) runeSet {
	out := runeSet{}
	for _, a := range s {
		for _, b := range t {
			if lo, hi := max(a.lo, b.lo), min(a.hi, b.hi); lo <= hi {
				out = append(out, runeRange{lo, hi})
			}
		}
	}
	return out
}

func (s runeSet) draw(rng *rand.Rand) (rune, bool) {
	total := 0
	for _, r := range s {
		total += int(r.hi-r.lo) + 1
	}
	if total == 0 {
		return 0, false
	}
	k := rng.Intn(total)
	for _, r := range s {
		n := int(r.hi-r.lo) + 1
		if k < n {
			return r.lo + rune(k), true
		}
		k -= n
	}
	return 0, false
}

func fromTable(t *unicode.RangeTable) runeSet {
	out := runeSet{}
	for _, r := range t.R16 {
		out = appendStride(out, rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range t.R32 {
		out = appendStride(out, rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return out.normal().without(runeRange{0xd800, 0xdfff})
}

func appendStride(s runeSet, lo, hi, stride rune) runeSet {
	if stride == 1 {
		return append(s, runeRange{lo, hi})
	}
	for r := lo; r <= hi; r += stride {
		s = append(s, runeRange{r, r})
	}
	return s
}
