package text

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// turns are the ways of writing a text otherwise that a model reads without a key.
var turns = []struct {
	how  string
	turn func(string) string
	// backwards says that the end comes first.
	backwards bool
}{
	{"reversed letters", backwards, true},
	{"ROT13", rot13, false},
}

// turnedWords are words: an order that is turned holds one.
var turnedWords = []string{"instructions", "password", "assistant", "secret", "previous", "conversation", ".ssh", "id_rsa", "credentials", "api_key", "the user"}

// turnedSigns are turnedWords, turned.
var turnedSigns = sync.OnceValue(func() (out [][]byte) {
	for _, t := range turns {
		for _, w := range turnedWords {
			out = append(out, []byte(t.turn(w)))
		}
	}
	return out
})

func backwards(s string) string {
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		_, n := utf8.DecodeLastRuneInString(s)
		out, s = append(out, s[len(s)-n:]...), s[:len(s)-n]
	}
	return string(out)
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

// turned reports whether a text holds a word that is turned.
func (p present) turned() bool { return p.eachOf(p.of.turned) }

// turned finds the orders that show when a text of these words is turned.
func turned(s string, words present) []Hit {
	if !words.turned() || !utf8.ValidString(s) {
		return nil
	}
	low := lowered(s)
	var out []Hit
	for _, t := range turns {
		if !slices.ContainsFunc(turnedWords, func(w string) bool { return bytes.Contains(low, []byte(t.turn(w))) }) {
			continue
		}
		plain := t.turn(s)
		found := poisoned(plain, wordsIn(plain))
		for _, h := range append(found, notCovered(ordered(plain), found)...) {
			from, end := h.Offset, h.End
			if t.backwards {
				from, end = len(s)-h.End, len(s)-h.Offset
			}
			out = append(out, Hit{Rule: Poisoning, Offset: from, End: end, Text: Printable("in "+t.how+": "+h.Text, 120), Decoded: true})
		}
	}
	return out
}
