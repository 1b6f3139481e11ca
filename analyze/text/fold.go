package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// confusables are letters of other scripts that look like one of ASCII (Unicode
// Technical Standard 39, confusables.txt), those that take part in such texts.
var confusables = func() map[rune]rune {
	out := map[rune]rune{}
	for _, pair := range [][2]string{
		{"аеорсухѕіјԁһԛԝӏьԍոռցաօսպ", "aeopcyxsijdhqwlbgnngaouu"},
		{"АВЕКМНОРСТХУЅІЈԌ", "ABEKMHOPCTXYSIJG"},
		{"οανρικτυχγεηωϲϳ", "oavpiktuxyenwcj"},
		{"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"},
		{"ıɑɡɩʟοƖ", "iagiloI"},
	} {
		from, to := []rune(pair[0]), []rune(pair[1])
		for i := range min(len(from), len(to)) {
			out[from[i]] = to[i]
		}
	}
	return out
}()

// isIgnorable reports whether a character is not shown and parts no words: soft
// hyphens, joiners, marks of direction, variation selectors.
func isIgnorable(r rune) bool {
	switch r {
	case 0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0:
		return true
	}
	return r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x206F || isVariation(r)
}

// folded is a text as a model may read it: without what is not shown, in compatibility
// form, and with letters of other scripts that look like Latin ones as these. at has the
// offset in the text of each byte. It is "" where nothing folds.
func folded(s string) (out string, at []int) {
	changes := false
	for i, r := range s {
		if r >= 0x80 && r != utf8.RuneError && (isIgnorable(r) || confusables[r] != 0 || !norm.NFKC.IsNormalString(s[i:i+utf8.RuneLen(r)])) {
			changes = true
			break
		}
	}
	if !changes {
		return "", nil
	}
	var b strings.Builder
	b.Grow(len(s))
	at = make([]int, 0, len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		text := s[i : i+n]
		switch {
		case r < 0x80:
		case isIgnorable(r):
			text = ""
		case confusables[r] != 0:
			text = string(confusables[r])
		default:
			text = norm.NFKC.String(text)
		}
		b.WriteString(text)
		for range len(text) {
			at = append(at, i)
		}
		i += n
	}
	return b.String(), at
}

// foldedOrders finds orders to a model that only show when a text is folded.
func foldedOrders(s string, have []Hit) []Hit {
	plain, at := folded(s)
	if plain == "" {
		return nil
	}
	words := wordsIn(plain)
	poisons := poisoned(plain, words)
	found := append(notCovered(append(foreignOrders(plain, words), ordered(plain)...), poisons), poisons...)
	for i := range found {
		found[i].Offset, found[i].End = at[found[i].Offset], endOf(s, at, found[i].End)
	}
	return notCovered(found, have)
}

// notCovered are the orders of a list that lie apart from those of another.
func notCovered(list, have []Hit) []Hit {
	var out []Hit
	for _, h := range list {
		covered := false
		for _, o := range append(out[:len(out):len(out)], have...) {
			covered = covered || o.Rule == h.Rule && h.Offset < o.End && o.Offset < h.End
		}
		if !covered {
			out = append(out, h)
		}
	}
	return out
}
