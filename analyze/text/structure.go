package text

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// concept is one part of an order to a model: who is addressed, what it should hide
// and from whom, what it should take, and where to send it.
type concept uint

// The concepts. A text orders a model about where several that belong together (orders)
// stand near each other, in whatever order its language puts them.
const (
	addressed concept = 1 << iota // an assistant, a model
	conceals                      // before the user, about what was done
	secret                        // a password, a key
	path                          // of a file that holds secrets
	talk                          // the whole conversation
	sends                         // attach, forward, append
	address                       // a URL or an e-mail address
	open                          // a URL that waits for a value at its end
	always                        // from now on, before each answer
	replaces                      // one thing by another
	payee                         // a recipient, an account
	agreed                        // the user is said to have agreed already
	unasked                       // without a confirmation
	obeys                         // what stands elsewhere
	prompt                        // the system's prompt
	answers                       // reply, print, reveal
	takes                         // read, open
	user
	stealth // unnoticed, in secret
)

// orders are the sets of concepts that make an order. Each has one that a declaration
// of a tool does not need: a secret alone, an addressee alone or "first" alone are ordinary.
var orders = []concept{
	conceals | addressed, conceals | secret, conceals | path, conceals | talk, conceals | address | sends, conceals | replaces | payee, conceals | user,
	always | secret | address | sends, always | path | address, path | open, path | takes | sends,
	stealth | path, stealth | secret | sends, stealth | talk | sends,
	always | replaces | payee, agreed | unasked,
	addressed | talk | sends, addressed | path | sends, addressed | obeys | address, prompt | answers,
}

// anchors are concepts: each order holds at least one.
const anchors = conceals | stealth | always | agreed | talk | path | obeys | prompt

// near is how far apart the words of one order stand, in bytes, and maxSentences in how
// many sentences.
const (
	near         = 320
	maxSentences = 2
)

// term is a word or a phrase of one language that says a concept: a blank stands for
// any, "…" for at most maxGap bytes of the same sentence.
type term struct {
	parts    []string
	concept  concept
	language int
	// bound says that the first letter begins a word.
	bound bool
}

const maxGap = 40

// mark is a term that was found.
type mark struct {
	at, end  int
	concept  concept
	language int
	// sentence counts the text's sentences.
	sentence int
	// target says that something is put into a path.
	target bool
	// identifier says that what is to be kept silent about is an identifier.
	identifier bool
}

// everywhere is the language of what is written alike in all.
const everywhere = -1

// unbroken reports whether no blanks part the words of a letter's script.
func unbroken(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// lowercase is a text in lower case, without what is not shown, and the offset in the
// text of each byte; at is nil where nothing moved.
func lowercase(s string) (low []byte, at []int) {
	low = lowered(s)
	plain := true
	for _, c := range low {
		plain = plain && c < utf8.RuneSelf
	}
	if plain {
		return low, nil
	}
	low, at = low[:0], make([]int, 0, len(s))
	for i, r := range s {
		if isIgnorable(r) || r >= 0x064B && r <= 0x0652 || r == utf8.RuneError {
			continue
		}
		if r == '’' {
			r = '\''
		}
		from := len(low)
		low = utf8.AppendRune(low, unicode.ToLower(r))
		for range len(low) - from {
			at = append(at, i)
		}
	}
	return low, at
}

// maxMarks bounds the terms that are kept of one text.
const maxMarks = 4096

// marked finds the terms in a text in lower case that may belong to an order: those near
// one of an anchor.
func marked(low []byte) (out []mark) {
	var at []mark
	begin := anchorTerms()
	key := uint16(0) // of the last three bytes
	for i := -2; i+1 < len(low) && len(at) < maxMarks; i++ {
		third := byte(0)
		if i+2 < len(low) {
			third = low[i+2]
		}
		key = (key<<5 | uint16(third&0x1F)) & (1<<15 - 1)
		if begin.begins[key/64]&(1<<(key%64)) != 0 && i >= 0 {
			at = appendTerms(at, begin.lists[begin.list[key]], low, i)
		}
	}
	for i := 0; i < len(at); {
		from, to := max(at[i].at-near, 0), at[i].at+near
		for i++; i < len(at) && at[i].at-near <= to; i++ {
			to = at[i].at + near
		}
		out = markedIn(out, low, from, min(to+1, len(low)-1))
	}
	return out
}

// markedIn adds the terms that begin in a part of a text. The sentences of the part are
// told apart, and nothing is said of those between parts.
func markedIn(out []mark, low []byte, from, to int) []mark {
	sentence := 0
	for i := from; i < to && len(out) < maxMarks; i++ {
		before := len(out)
		switch {
		case endsSentence(low, i):
			sentence++
		case low[i] == ':':
			out = addressesAt(out, low, i)
		case low[i] == '@' && i > 0 && isWord(low[i-1]) && isWord(low[i+1]):
			out = append(out, mark{at: i, end: i + 1, concept: address, language: everywhere})
		}
		if list := terms().at(low, i); list != nil {
			out = appendTerms(out, list, low, i)
		}
		for k := before; k < len(out); k++ {
			out[k].sentence = sentence
		}
	}
	return out
}

// appendTerms adds the terms of a list that stand at i.
func appendTerms(out []mark, list []term, low []byte, i int) []mark {
	isBegin := begins(low, i)
	for k := range list {
		t := &list[k]
		if t.bound && !isBegin {
			continue
		}
		end := t.match(low, i)
		if end == 0 || t.concept == stealth && leavesOut(low[end:]) || t.concept == agreed && condition.Match(low[max(i-maxGap, 0):i]) {
			continue
		}
		out = append(out, mark{at: i, end: end, concept: t.concept, language: t.language, identifier: t.concept == conceals && isOfIdentifier(low[end:]), target: t.concept == path && putInto.Match(low[max(i-maxGap, 0):i])})
	}
	return out
}

// condition ends before what is only to be so: "once the user has confirmed" says of nobody that he has.
var condition = lazyregexp.New(`\b(?:after|once|if|unless|until|till|when|whenever|whether|before|provided that|wenn|sobald|nachdem|falls|bis|si|après que|dès que|quand|cuando|una vez que|después de que|quando|se|dopo che|depois que|após)(?: (?:the|der|die|das|l'|le|el|il|lo|l'|o|your|your own|an?))* ?$`)

// putInto ends before a path into which something is put: a setting, not the path's contents,
// is on its way then.
var putInto = lazyregexp.New(`\binto(?: (?:your|the|a|this|its))?(?: file)?[ \x60"'(]*$`)

// omissions follow "quietly" where a program says that it leaves something out.
var omissions = []string{"passed over", "passes over", "skip", "ignor", "left out", "leaves out", "drop", "discard", "fall back", "falls back", "fail", "disabled", "omit", "does nothing", "do nothing"}

// leavesOut reports whether a text goes on with one of omissions.
func leavesOut(low []byte) bool {
	low = bytes.TrimLeft(low[:min(len(low), maxGap)], " \n")
	return slices.ContainsFunc(omissions, func(o string) bool { return bytes.HasPrefix(low, []byte(o)) })
}

// endsSentence reports whether the character at i ends a sentence or a line.
func endsSentence(low []byte, i int) bool {
	switch low[i] {
	case '\n':
		return true
	case '.', '!', '?', ';':
		return isBlank(low[i+1])
	case 0xE3: // the full stop of Chinese and Japanese
		return i+2 < len(low) && low[i+1] == 0x80 && low[i+2] == 0x82
	}
	return false
}

// addressesAt adds the URL that has its colon at i.
func addressesAt(out []mark, low []byte, i int) []mark {
	if !strings.HasPrefix(string(low[i:min(i+3, len(low))]), "://") || i < 4 {
		return out
	}
	end := i + 3
	for end < len(low) && low[end] > ' ' && low[end] < utf8.RuneSelf && strings.IndexByte("\"'<>)]}|`", low[end]) < 0 {
		end++
	}
	out = append(out, mark{at: i, end: end, concept: address, language: everywhere})
	if u := strings.TrimRight(string(low[i:end]), ".,;"); strings.HasSuffix(u, "=") || strings.Contains(u, "={") {
		out = append(out, mark{at: i, end: end, concept: open, language: everywhere})
	}
	return out
}

// begins reports whether a word begins at i.
func begins(low []byte, i int) bool {
	if i == 0 {
		return true
	}
	r, _ := utf8.DecodeLastRune(low[:i])
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
}

// match is the end of the term where it stands at i, 0 where it does not.
func (t *term) match(low []byte, i int) int {
	end := matchAt(low, i, t.parts[0])
	for _, p := range t.parts[1:] {
		if end == 0 {
			return 0
		}
		end = matchWithin(low, end, p)
	}
	return end
}

// matchWithin is the end of a part that stands in the gap behind i.
func matchWithin(low []byte, i int, part string) int {
	for k := i; k < min(i+maxGap, len(low)); k++ {
		switch low[k] {
		case '.', '!', '?', '\n':
			if k+1 == len(low) || isBlank(low[k+1]) {
				return 0
			}
		}
		if end := matchAt(low, k, part); end > 0 {
			return end
		}
	}
	return 0
}

// matchAt is the end of words that stand at i, 0 where they do not.
func matchAt(low []byte, i int, words string) int {
	for k := range len(words) {
		if words[k] == ' ' {
			from := i
			for i < len(low) && isBlank(low[i]) {
				i++
			}
			if i == from && (i < len(low) && (isWord(low[i]) || low[i] >= utf8.RuneSelf)) {
				return 0
			}
			continue
		}
		if i >= len(low) || low[i] != words[k] {
			return 0
		}
		i++
	}
	return i
}

// ordered finds orders to a model by their structure.
func ordered(s string) []Hit {
	low, at := lowercase(s)
	return orderedIn(s, low, at)
}

// orderedIn is ordered for a text that is in lower case too, as lowercase makes it.
func orderedIn(s string, low []byte, at []int) []Hit {
	marks := marked(low)
	var out []Hit
	last := 0
	for i := range marks {
		if marks[i].at < last || len(out) >= MaxHits {
			continue
		}
		isLook := marks[i].concept&conceals != 0 && aboutLooks(low[marks[i].at:min(marks[i].at+near, len(low))])
		if end := orderFrom(marks[i:], isLook); end > 0 {
			from, to := marks[i].at, end
			last = end
			if at != nil {
				from, to = at[from], endOf(s, at, to)
			}
			out = append(out, Hit{Rule: Poisoning, Offset: from, End: to, Text: Printable(s[from:to], 120)})
		}
	}
	return out
}

// endOf is the offset in a text behind the byte before end.
func endOf(s string, at []int, end int) int {
	if end >= len(at) {
		return len(s)
	}
	return at[end]
}

// orderFrom is the end of the first order that begins with the first of marks, 0 for
// none. Its words are of one language. isLook says that what is kept from the user is how an
// answer looks.
func orderFrom(marks []mark, isLook bool) int {
	for _, language := range languagesOf(marks) {
		var have concept
		for i := range marks {
			m := &marks[i]
			if m.at-marks[0].at > near || m.sentence-marks[0].sentence >= maxSentences {
				break
			}
			if m.language != everywhere && m.language != language {
				continue
			}
			have |= m.concept
			for _, o := range orders {
				if have&o == o && (o != conceals|user || !isLook) && o&marks[0].concept != 0 && !isCare(o, marks[:i+1], language) {
					return m.end
				}
			}
		}
	}
	return 0
}

// isCare reports whether the marks of an order only say what an answer leaves out.
func isCare(o concept, marks []mark, language int) bool {
	switch o {
	case conceals | secret:
		return keepsOut(marks, language)
	case path | open:
		return !slices.ContainsFunc(marks, func(m mark) bool { return m.concept == path && !m.target })
	case conceals | user, conceals | addressed:
		return !slices.ContainsFunc(marks, func(m mark) bool {
			return m.concept == conceals && !m.identifier && (m.language == everywhere || m.language == language)
		})
	}
	return false
}

// keepsOut reports whether each secret of some marks is what is to be kept silent about: "never
// mention passwords in it" is care, and hides nothing that was done.
func keepsOut(marks []mark, language int) bool {
	from := -1
	for i := range marks {
		m := &marks[i]
		switch {
		case m.language != everywhere && m.language != language:
		case m.concept == conceals && from < 0:
			from = m.end
		case m.concept == secret && (from < 0 || m.at-from > maxGap):
			return false
		case m.concept == secret:
			from = m.end // a list of several
		}
	}
	return true
}

// languagesOf are the languages of an order that begins with the first of marks.
func languagesOf(marks []mark) []int {
	if marks[0].language != everywhere {
		return []int{marks[0].language}
	}
	var out []int
	for _, m := range marks {
		if m.at-marks[0].at > near {
			break
		}
		if !slices.Contains(out, m.language) {
			out = append(out, m.language)
		}
	}
	return out
}

// structureWords are, for the anchors that are ASCII, the words of each: an order in
// ASCII holds all of one of them. JSON escapes nothing in a word.
var structureWords = sync.OnceValue(func() (out [][][]byte) {
	seen := map[string]bool{}
	for _, list := range anchorTerms().lists {
		for _, t := range list {
			phrase := strings.Join(t.parts, " ")
			if seen[phrase] || strings.ContainsFunc(phrase, func(r rune) bool { return r >= utf8.RuneSelf }) {
				continue
			}
			seen[phrase] = true
			out = append(out, words(strings.Join(strings.FieldsFunc(phrase, func(r rune) bool { return !isWord(byte(r)) }), " ")))
		}
	}
	return out
})

// common are words that stand in most texts: a phrase is told from another of its words.
var common = strings.Fields("about all already answer before complete each every everything from full has must need not response system that the this user what with without")

// structureSigns has one word of each of structureWords.
func structureSigns() string {
	var out []string
	for _, phrase := range structureWords() {
		best := ""
		for _, w := range phrase {
			rare, was := !slices.Contains(common, string(w)), !slices.Contains(common, best)
			if best == "" || rare && !was || rare == was && len(w) > len(best) {
				best = string(w)
			}
		}
		for _, w := range phrase {
			if len(best) < 3 && len(w) > len(best) {
				best = string(w)
			}
		}
		out = append(out, best)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}
