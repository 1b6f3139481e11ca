package schema

import (
	"strings"
	"unicode/utf8"
)

const (
	textTries = 40
	// textCost is how many bytes of text an expression matches in the time of
	// one step, or more: so that a long text is paid for.
	textCost = 64
)

// text draws a string: what the property means, else what its format or
// expression asks for, else ordinary words, or anything at all for Valid.
func (d *drawer) text(sh *shape, m *meaning) (any, bool) {
	t := sh.str
	if d.class == Sourced {
		if s, ok := d.sourced(sh, m); ok {
			d.bytes += len(s)
			return s, true
		}
	}
	if d.typical() {
		if s, ok := d.meaningful(sh, m); ok {
			d.bytes += len(s)
			return s, true
		}
	}
	for try := range textTries {
		d.steps++
		if d.exhausted() {
			return nil, false
		}
		s, ok := d.candidate(t, try)
		if ok && d.accepts(sh, s) {
			d.bytes += len(s)
			return s, true
		}
	}
	return nil, false
}

// meaningful tries what the property's name and description suggest.
func (d *drawer) meaningful(sh *shape, m *meaning) (string, bool) {
	if d.chance(m.knownChance(d.class)) {
		if s, ok := d.known(sh, m); ok {
			return s, true
		}
	}
	list := m.strings(d, sh.str)
	if len(list) == 0 {
		list = kindNumbers[m.kind] // "1" where a page is written as text
	}
	for try := range 6 {
		if len(list) == 0 {
			break
		}
		i := try
		if d.class != TypicalRequired {
			i = d.rng.Intn(len(list))
		}
		if i >= len(list) {
			break
		}
		if s := list[i]; d.accepts(sh, s) {
			return s, true
		}
	}
	return "", false
}

// known draws from what the dictionary has learned.
func (d *drawer) known(sh *shape, m *meaning) (string, bool) {
	if m.guarded() {
		return "", false
	}
	list := d.g.opts.Hints.Dictionary.strings(m)
	for try := range min(4, len(list)) {
		i := d.rng.Intn(len(list))
		if try == 0 {
			i = len(list) - 1
		}
		if s := list[i]; d.accepts(sh, s) {
			return s, true
		}
	}
	return "", false
}

// accepts checks a string against what was merged; formats are the judge's.
func (d *drawer) accepts(sh *shape, s string) bool {
	t := sh.str
	if t.min > 0 || t.max < unbounded {
		if n := utf8.RuneCountInString(s); n < t.min || n > t.max {
			return false
		}
	}
	for _, p := range t.patterns {
		d.steps += len(s) / textCost
		if !p.match.MatchString(s) {
			return false
		}
	}
	return len(t.formats) == 0 || d.g.holds(sh.conj, s)
}

// candidate makes a string that may or may not be accepted.
func (d *drawer) candidate(t *textual, try int) (string, bool) {
	if d.class == Boundary && len(t.formats) == 0 && try < textTries/2 {
		return d.edgeText(t, try)
	}
	if len(t.formats) > 0 && (len(t.patterns) == 0 || try%2 == 0) {
		s, ok := d.format(t.formats[try%len(t.formats)])
		return fit(s, t), ok
	}
	if len(t.patterns) > 0 {
		return d.patterned(t, try)
	}
	if d.typical() {
		return d.prose(t), true
	}
	return d.noise(t), true
}

// patterned writes to one of the expressions, or to several in a row: those
// that are not anchored on both sides may hold together so.
func (d *drawer) patterned(t *textual, try int) (string, bool) {
	p := t.patterns[d.rng.Intn(len(t.patterns))]
	if len(t.patterns) == 1 || try%3 == 0 {
		return p.write(d.rng, t.min, t.max, d.class, try)
	}
	order := make([]int, len(t.patterns))
	for i := range order {
		order[i] = i
	}
	if try%3 == 2 {
		d.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	var b strings.Builder
	for _, i := range order[:min(len(order), 8)] {
		s, ok := t.patterns[i].write(d.rng, 0, t.max, d.class, try)
		if !ok {
			return "", false
		}
		b.WriteString(s)
	}
	return b.String(), true
}

// fit lengthens or shortens a formatted string where that may keep its format:
// the judge decides.
func fit(s string, t *textual) string {
	n := utf8.RuneCountInString(s)
	if n > t.max {
		return string([]rune(s)[:t.max])
	}
	if n < t.min && t.min <= maxTextEver {
		return s + strings.Repeat("a", t.min-n)
	}
	return s
}

// prose writes ordinary words of the length asked for.
func (d *drawer) prose(t *textual) string {
	s := sentences[0]
	if d.class != TypicalRequired {
		s = sentences[d.rng.Intn(len(sentences))]
	}
	if utf8.RuneCountInString(s) > t.max {
		s = ordinaryWords[d.rng.Intn(len(ordinaryWords))]
	}
	for utf8.RuneCountInString(s) < t.min {
		s += " " + sentences[d.rng.Intn(len(sentences))]
		if len(s) > maxTextEver*2 {
			break
		}
	}
	if utf8.RuneCountInString(s) > t.max {
		s = string([]rune(s)[:t.max])
	}
	return s
}

// odd are the characters that a tool may not have been tried with.
var odd = []rune("äßéñ中文字日本한글عربي😀𝔘\u200b\u00a0\t\n\"'\\/<>&%$#;`|{}[]()*?~^\u0301\u202e\ufeff\x01\x7f")

// noise is text at random.
func (d *drawer) noise(t *textual) string {
	lo, hi := t.min, min(t.max, max(t.min, min(24, d.p.MaxSize+4)))
	n := lo
	if hi > lo {
		n += d.rng.Intn(hi - lo + 1)
	}
	var b strings.Builder
	kind := d.rng.Intn(4)
	for range n {
		switch {
		case kind == 0 && d.chance(40):
			b.WriteRune(odd[d.rng.Intn(len(odd))])
		case kind == 1:
			b.WriteRune(rune(' ' + d.rng.Intn('~'-' '+1)))
		default:
			r, _ := alnum.draw(d.rng)
			b.WriteRune(r)
		}
	}
	return b.String()
}
