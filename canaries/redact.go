package canaries

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// literal is a whole value as it stands in a text.
type literal struct{ text, id string }

// newLiterals are the values of at least so many bytes, plain and as JSON writes them.
func newLiterals(list []Canary, least int) []literal {
	var out []literal
	for _, c := range list {
		if len(c.Value) < least {
			continue
		}
		out = append(out, literal{c.Value, c.ID})
		if quoted, err := json.Marshal(c.Value); err == nil && len(quoted)-2 != len(c.Value) {
			out = append(out, literal{string(quoted[1 : len(quoted)-1]), c.ID})
		}
	}
	return out
}

// span is a part of a text that gives a canary away.
type span struct {
	from, to int
	id       string
}

const (
	// maxGap is how far apart two pieces of one canary may lie to be redacted as
	// one: an escaped line end. It is also how far a span grows over the letters
	// next to it, which may hold the last bits of a secret.
	maxGap = 4
	// maxRedactions bounds how often a text is looked at: what one redaction
	// leaves may read differently from before.
	maxRedactions = 4
)

// Redact replaces each canary by its id in brackets, however it is written,
// and any good part of it. Redact before cutting a text short: of a piece
// shorter than a needle nobody can tell what it was.
func (s *Set) Redact(text string) string {
	for _, l := range s.literals {
		text = strings.ReplaceAll(text, l.text, "["+l.id+"]")
	}
	for range maxRedactions {
		var spans []span
		sc := s.borrow()
		sc.told = func(k found, from, to int64) { spans = append(spans, span{int(from), int(to), sc.hit(k).ID}) }
		_, _ = sc.Write([]byte(text))
		sc.below(sc.note)
		s.giveBack(sc)
		if len(spans) == 0 {
			return text
		}
		text = cover(text, spans)
	}
	return text
}

// cover replaces the spans of a text by the names of what they give away.
func cover(text string, spans []span) string {
	var out strings.Builder
	done := 0
	for _, sp := range grow(text, spans) {
		out.WriteString(text[done:max(done, sp.from)] + "[" + sp.id + "]")
		done = sp.to
	}
	return out.String() + text[done:]
}

// grow sorts and joins spans, and lets each take in the letters next to it.
func grow(text string, spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var out []span
	for _, sp := range spans {
		if n := len(out); n > 0 && (sp.from < out[n-1].to || sp.id == out[n-1].id && sp.from-out[n-1].to <= maxGap) {
			out[n-1].to = max(out[n-1].to, sp.to)
			continue
		}
		out = append(out, sp)
	}
	for i := range out {
		for n := 0; n < maxGap && out[i].from > 0 && isDigit(text[out[i].from-1]); n++ {
			out[i].from--
		}
		for n := 0; n < maxGap && out[i].to < len(text) && isDigit(text[out[i].to]); n++ {
			out[i].to++
		}
	}
	return out
}

// isDigit reports whether c may be a digit of base 64.
func isDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}
