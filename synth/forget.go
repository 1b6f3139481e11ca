package synth

import (
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// maxUnknown bounds the values that name nothing.
const maxUnknown = 1_000

var (
	// unknownText is a refusal of a value that names nothing, and valueBehind is one that the value follows.
	unknownText = lazyregexp.New(`(?i)\bnot found\b:?|\bno [\w -]{1,40} found\b|\bunknown\b|does(?: not|n't) exist\b:?|no such`)
	valueBehind = lazyregexp.New(`^(?:unknown|no )|:$`)
	// placeAhead is what stands before the name of what something was looked for in.
	placeAhead = lazyregexp.New("\\b(?:in|of|from|on|within|inside|under)\\s+(?:[\\w-]+\\s+){0,2}['\"`]?$")
)

// maxPlaceAhead bounds what is looked at before a value for that.
const maxPlaceAhead = 60

// mention is a place where a text has a value.
type mention struct {
	value    string
	from, to int
}

// forget drops the arguments' values that name nothing, as a refusal says: an answer that repeats them teaches
// nothing. What the refusal offers, or what it looked in, is there. A path stays, since a file may appear there later.
func (l *learner) forget(args json.RawMessage, text string) {
	if len(text) > 4096 || !unknownText.MatchString(text) {
		return
	}
	known := map[string]bool{} // or mentioned already
	for _, m := range demandText.FindAllStringSubmatch(text, maxQuoted) {
		for _, v := range demanded(m[1]) {
			known[v] = true
		}
	}
	text = strings.ToLower(text)
	var given []mention
	eachScalar(args, func(value string) {
		if known[value] || len(value) > len(text) || strings.HasPrefix(value, "/") {
			return
		}
		known[value] = true
		given = append(given, mentionsOf(text, value)...)
	})
	for _, at := range unknownText.FindAllStringIndex(text, maxQuoted) {
		value := missing(text, at[0], at[1], given)
		if value == "" || len(l.d.unknown) >= maxUnknown {
			continue
		}
		if l.d.unknown == nil {
			l.d.unknown = map[string]bool{}
		}
		l.d.unknown[value] = true
		l.d.cfg.Hints.Dictionary.Drop(value)
	}
}

// mentionsOf are the places where a text in lower case speaks of a value, but as the place of something else.
func mentionsOf(text, value string) []mention {
	var out []mention
	word := strings.ToLower(value)
	for at := nextWord(text, word, 0); at >= 0; at = nextWord(text, word, at+len(word)) {
		if !placeAhead.MatchString(text[max(0, at-maxPlaceAhead):at]) {
			out = append(out, mention{value, at, at + len(word)})
		}
	}
	return out
}

// missing is the value of which a text says between from and to that it names nothing: the last before that, else the
// first behind, in the same sentence; the other way round where the words ask for it. Of two at one place it is the longer.
func missing(text string, from, to int, given []mention) string {
	before, behind := mention{from: -1, to: -1}, mention{from: len(text) + 1}
	start := to
	if strings.HasPrefix(text[from:to], "no ") && strings.HasSuffix(text[from:to], " found") {
		start = from + len("no ") + 1 // its first word is a kind of thing, and the value may follow
	}
	for _, g := range given {
		if g.to <= from && oneSentence(text[g.to:from]) && (g.to > before.to || g.to == before.to && g.from < before.from) {
			before = g
		}
		if g.from >= start && oneSentence(text[min(to, g.from):g.from]) && (g.from < behind.from || g.from == behind.from && g.to > behind.to) {
			behind = g
		}
	}
	if before.value == "" || behind.value != "" && valueBehind.MatchString(text[from:to]) {
		return behind.value
	}
	return before.value
}

func oneSentence(text string) bool {
	return !strings.Contains(text, "\n") && !strings.Contains(text, ". ")
}
