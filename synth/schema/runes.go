package schema

import (
	"math/rand"
	"sort"
	"strings"
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

// shortScripts are the four-letter names of the scripts that are mostly asked for.
var shortScripts = map[string]string{
	"Latn": "Latin", "Grek": "Greek", "Cyrl": "Cyrillic", "Arab": "Arabic", "Hebr": "Hebrew", "Hani": "Han", "Hira": "Hiragana", "Kana": "Katakana",
	"Hang": "Hangul", "Thai": "Thai", "Deva": "Devanagari", "Armn": "Armenian", "Geor": "Georgian", "Zyyy": "Common",
}

// binaryProperties are those that are no category and no script.
var binaryProperties = map[string][]*unicode.RangeTable{
	"Alphabetic": {unicode.L, unicode.Nl, unicode.Other_Alphabetic}, "Alpha": {unicode.L, unicode.Nl, unicode.Other_Alphabetic},
	"Uppercase": {unicode.Lu, unicode.Other_Uppercase}, "Lowercase": {unicode.Ll, unicode.Other_Lowercase},
	"White_Space": {unicode.White_Space}, "space": {unicode.White_Space}, "ASCII_Hex_Digit": {unicode.ASCII_Hex_Digit},
	"Hex_Digit": {unicode.Hex_Digit}, "Ideographic": {unicode.Ideographic}, "Dash": {unicode.Dash},
	"ASCII": {{R16: []unicode.Range16{{Lo: 0, Hi: 0x7f, Stride: 1}}}},
	"Any":   {{R16: []unicode.Range16{{Lo: 0, Hi: 0xffff, Stride: 1}}, R32: []unicode.Range32{{Lo: 0x10000, Hi: unicode.MaxRune, Stride: 1}}}},
}

// plainProperty is the name under which Go knows a category or script.
func plainProperty(name string) string {
	if _, v, ok := strings.Cut(name, "="); ok {
		name = v
	}
	if long, ok := unicode.CategoryAliases[name]; ok {
		return long
	}
	if long, ok := shortScripts[name]; ok {
		return long
	}
	return name
}

// propertySetOf is the set of a property's characters.
func propertySetOf(name string) (runeSet, bool) {
	name = plainProperty(name)
	tables := binaryProperties[name]
	if t := unicode.Categories[name]; t != nil {
		tables = []*unicode.RangeTable{t}
	} else if t := unicode.Scripts[name]; t != nil {
		tables = []*unicode.RangeTable{t}
	}
	out := runeSet{}
	for _, t := range tables {
		out = append(out, fromTable(t)...)
	}
	return out.normal(), len(tables) > 0
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
