package canaries

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Hit says that a canary is there. Each canary is told once for each encoding.
type Hit struct {
	ID string
	// Encoding is how it is written: "raw", "json", "base64", "base64url", "hex" …
	Encoding string
	// Offset is where the first recognised piece of it starts, in bytes.
	Offset int64
}

// Find says which canaries are in b, whole or in a good part, and how written.
// The hits are sorted by offset.
func (s *Set) Find(b []byte) []Hit {
	sc := s.Scanner()
	sc.scan(b, len(b), 0)
	return sc.Hits()
}

// Scanner looks for the set's canaries in a stream. It belongs to one goroutine.
type Scanner struct {
	m     *matcher
	tail  []byte // the stream's end, one byte shorter than the longest text
	joint []byte // the tail and the start of the next write, kept for its memory
	off   int64  // the bytes written so far
	first map[int]int64
}

// Scanner starts a search over a stream.
func (s *Set) Scanner() *Scanner {
	return &Scanner{m: s.matcher(), first: map[int]int64{}}
}

// Write looks at the next bytes of the stream, in whatever pieces it comes. It
// never fails and keeps no more than a few hundred bytes.
func (sc *Scanner) Write(p []byte) (int, error) {
	keep := max(sc.m.max-1, 0)
	if n := len(sc.tail); n > 0 {
		// What starts in the tail, and reaches into p.
		sc.joint = append(append(sc.joint[:0], sc.tail...), p[:min(len(p), keep)]...)
		sc.scan(sc.joint, n, sc.off-int64(n))
	}
	sc.scan(p, len(p), sc.off)
	sc.off += int64(len(p))
	if len(p) >= keep {
		sc.tail = append(sc.tail[:0], p[len(p)-keep:]...)
	} else {
		sc.tail = append(sc.tail, p...)
		sc.tail = sc.tail[:copy(sc.tail, sc.tail[max(0, len(sc.tail)-keep):])]
	}
	return len(p), nil
}

// scan notes what starts in b before limit, where b starts at base in the stream.
func (sc *Scanner) scan(b []byte, limit int, base int64) {
	sc.m.scan(b, limit, func(p *pattern, start int) {
		at := base + int64(start)
		if old, ok := sc.first[p.hit]; !ok || at < old {
			sc.first[p.hit] = at
		}
	})
}

// Hits is what was found so far, sorted by offset.
func (sc *Scanner) Hits() []Hit {
	var out []Hit
	for _, i := range slices.Sorted(maps.Keys(sc.first)) {
		h := sc.m.hits[i]
		h.Offset = sc.first[i]
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b Hit) int { return cmp.Compare(a.Offset, b.Offset) })
	return out
}

// literal is a whole value as it stands in a text.
type literal struct{ text, id string }

// newLiterals are the values, plain and as JSON writes them.
func newLiterals(list []Canary) []literal {
	var out []literal
	for _, c := range list {
		if len(c.Value) < shortest {
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

// maxGap is how far apart two pieces of one canary may lie to be redacted as
// one: an escaped line end. It is also how far a span grows over the letters
// next to it, which may hold the last bits of a secret.
const maxGap = 4

// Redact replaces each canary by its id in brackets, however it is written,
// and any good part of it. Redact before cutting a text short: of a piece
// shorter than a needle nobody can tell what it was.
func (s *Set) Redact(text string) string {
	for _, l := range s.literals {
		text = strings.ReplaceAll(text, l.text, "["+l.id+"]")
	}
	m := s.matcher()
	var spans []span
	m.scan([]byte(text), len(text), func(p *pattern, start int) {
		spans = append(spans, span{start, start + len(p.text), m.hits[p.hit].ID})
	})
	if len(spans) == 0 {
		return text
	}
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
