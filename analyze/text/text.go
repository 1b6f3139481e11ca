package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The rules of this package, by the names of the audit's rubric.
const (
	Poisoning = "tool-poisoning"
	Hidden    = "unicode-hidden"
)

// Hit is one place in a text.
type Hit struct {
	// Rule is Poisoning or Hidden.
	Rule string
	// Offset and End count bytes from the text's start: the place is what lies between.
	Offset, End int
	// Text says what stands there, printable and at most 120 bytes.
	Text string
	// Kind names a Hidden hit's kind of character ("tag character",
	// "bidirectional control" …), and N counts the characters in a row.
	Kind string
	N    int
	// Decoded says that the place holds the order in an encoding.
	Decoded bool
	// Quoted says that an order stands within quotation marks of its line.
	Quoted bool
}

// MaxText bounds what Scan looks at, in bytes. MaxHits bounds what it returns:
// where it returns as many, nothing is said of what stands behind the last.
const (
	MaxText = 4 << 20
	MaxHits = 100
)

// Scan returns the places in s that fire a rule, in their order.
func Scan(s string) []Hit {
	if len(s) > MaxText {
		s = s[:MaxText]
	}
	var hits []Hit
	l := look(s)
	if !l.shown {
		hits = hidden(s)
	}
	if !l.ascii || l.signed {
		var low []byte
		var at []int
		var words present
		if l.ascii {
			low = lowered(s)
			words = wordsOf(low)
		} else {
			low, at = lowercase(s)
			words = wordsIn(s)
		}
		hits = append(hits, poisoned(s, words)...)
		found := foreignOrders(s, words)
		if !l.ascii || words.structured() {
			found = append(found, orderedIn(s, low, at)...)
		}
		hits = append(hits, notCovered(found, hits)...)
		if !l.ascii {
			hits = append(hits, foldedOrders(s, hits)...)
		}
		hits = append(hits, turned(s, words)...)
	}
	if !l.ascii || l.long {
		hits = append(hits, smuggled(s)...)
	}
	for i := range hits {
		hits[i].Quoted = hits[i].Rule == Poisoning && !hits[i].Decoded && isQuoted(s, hits[i].Offset, hits[i].End)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return a.Offset - b.Offset })
	return hits[:min(len(hits), MaxHits)]
}

// HasOrder reports whether a text holds a Poisoning.
func HasOrder(s string) bool {
	return slices.ContainsFunc(Scan(s), func(h Hit) bool { return h.Rule == Poisoning })
}

// quotes are the marks that open and close a quotation of a text. Those of ASCII are of
// programs, too.
var quotes = [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}}

// isQuoted reports whether a place stands within quotation marks of its line.
func isQuoted(s string, from, end int) bool {
	before, after := s[:from], s[min(end, len(s)):]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	for _, q := range quotes {
		opened, closed := strings.LastIndex(before, q[0]), strings.LastIndex(before, q[1])
		if opened >= 0 && (closed < opened || q[0] == q[1]) && strings.Contains(after, q[1]) {
			return true
		}
	}
	return false
}

// hidden finds characters that are not shown or that reorder what is shown.
// Joiners between letters or emoji, one byte order mark at the start and the
// tag sequences of flags are ordinary.
func hidden(s string) []Hit {
	var out []Hit
	prev := rune(0)
	flag := false
	for i := 0; i < len(s) && len(out) < MaxHits; {
		if c := s[i]; c >= ' ' && c < 0x7F {
			i, prev, flag = i+1, rune(c), false
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		flag = r == blackFlag || (flag && isTag(r))
		if name := nameHidden(r, prev, next, i, flag); name != "" {
			end := i + n
			for end < len(s) {
				q, m := utf8.DecodeRuneInString(s[end:])
				if nameHidden(q, r, 0, end, false) == "" {
					break
				}
				end += m
			}
			run := utf8.RuneCountInString(s[i:end])
			if run == 1 && isMark(r) && besideRightToLeft(s, i, end) {
				i, prev = end, r
				continue
			}
			out = append(out, Hit{Rule: Hidden, Offset: i, End: end, Text: fmt.Sprintf("%s U+%04X (%d in a row)", name, r, run), Kind: name, N: run})
			i, prev = end, r
			continue
		}
		i, prev = i+n, r
	}
	return out
}

// isMark reports whether a character is a mark of direction, which reorders no letter.
func isMark(r rune) bool { return r == 0x200E || r == 0x200F || r == 0x061C }

// besideRightToLeft reports whether a letter that runs from right to left stands near a place: marks of
// direction belong to the writing there.
func besideRightToLeft(s string, from, end int) bool {
	const near = 32
	return strings.ContainsFunc(s[max(from-near, 0):min(end+near, len(s))], func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
	})
}

const blackFlag = '\U0001F3F4'

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

func isJoiner(r rune) bool { return r == 0x200C || r == 0x200D }

// nameHidden names the kind of a hidden character, "" for an ordinary one.
func nameHidden(r, prev, next rune, at int, flag bool) string {
	switch {
	case isTag(r) && !flag:
		return "tag character"
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
		return "bidirectional control"
	case isJoiner(r) && (!joins(prev) || !joins(next)):
		return "zero-width joiner"
	case r == 0x200B, r == 0x2060, r >= 0x2061 && r <= 0x2064, r == 0x180E, r == 0xFEFF && at > 0:
		return "zero-width character"
	case r >= 0xE0100 && r <= 0xE01EF && isVariation(prev), r >= 0xFE00 && r <= 0xFE0F && isVariation(prev):
		return "variation selectors"
	case r == 0x3164, r == 0x115F, r == 0x1160, r == 0xFFA0:
		return "blank letter"
	case r == 0x1B || r == 0x9B:
		return "terminal escape"
	case r < 0x20 && r != '\n' && r != '\t' && r != '\r' && r != '\f', r == 0x7F, r >= 0x80 && r < 0xA0 && r != 0x85:
		return "control character"
	}
	return ""
}

func isVariation(r rune) bool {
	return r >= 0xE0100 && r <= 0xE01EF || r >= 0xFE00 && r <= 0xFE0F
}

// joins reports whether a joiner beside r is ordinary: Indic and Arabic letters, marks and emoji.
func joins(r rune) bool {
	return unicode.IsLetter(r) && r > 0x2FF || unicode.IsMark(r) || r >= 0x2600 && r <= 0x27BF || r >= 0x1F000 && r <= 0x1FAFF
}

// Printable makes any text safe for a line of any medium that escapes its own
// metacharacters: controls and hidden characters become \u{…}, and at most n
// bytes are kept.
func Printable(s string, n int) string {
	plain := 0
	for plain < len(s) && s[plain] >= ' ' && s[plain] < 0x7F {
		plain++
	}
	switch {
	case plain > n && n >= 0:
		return s[:n] + "…"
	case plain == len(s):
		return s
	}
	var b strings.Builder
	for i, r := range s {
		w := string(r)
		if r == utf8.RuneError {
			w = "\uFFFD"
		} else if r == '\n' || r == '\r' || r == '\t' {
			w = " "
		} else if !unicode.IsPrint(r) || nameHidden(r, 0, 0, i+1, false) != "" {
			w = fmt.Sprintf(`\u{%X}`, r)
		}
		if b.Len()+len(w) > n {
			b.WriteString("…")
			break
		}
		b.WriteString(w)
	}
	return b.String()
}
