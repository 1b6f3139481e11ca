package synth

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// maxFitted bounds the regular expressions that are tried for one refused text.
const maxFitted = 6

// plainValues are values as people give them. One that a regular expression takes is more likely to mean something
// to the tool than one that is made after the expression.
var plainValues = []string{
	"example", "example-1", "report", "Report", "REPORT", "42", "1", "3.14", "1.2.3", "v1.2.3", "1.2", "2026-03-14", "2026-03", "2026", "2026-W11", "14.03.2026", "03/14/2026", "20260314",
	"09:30", "09:30:00", "2026-03-14T09:30:00Z", "2026-03-14T09:30", "2026-03-14 09:30", "09:30-11:00", "30m", "30s", "30 min", "1h30m", "1h", "7d", "2w", "PT30M",
	"EUR", "DE", "de", "de-DE", "de_DE", "#3366cc", "3366cc", "A1", "A1:B3", "B2", "192.0.2.10", "192.0.2.0/24", "2001:db8::1",
	"www.example.com", "example.com", "alex@example.com", "@alex", "#general", "https://www.example.com/", "3f2b8c1e-6d4a-4f7b-9a53-1c2d3e4f5a6b",
	"0123456789abcdef0123456789abcdef", "d670460b4b4aece5915caf5c68d12f560a9fe3e4", "d670460", "+4930123456", "9783161484100", "978-3-16-148410-0", "DE89370400440532013000",
	"example/report", "example:1.2", "org.example:report", "report.md", "report.csv", "ABC-123", "ABC", "abc", "AB12", "00:11:22:33:44:55", "52.52,13.405", "50%", "100x200", "1920x1080",
	"10kg", "10 kg", "100 MB", "C4", "Am", "e4", "+1", "12345", "123456", "12345678", "10115", "US-CA", "Q1", "K1", "key=value", "name:report", "1-3", "1,2,3", "1-3,7",
}

// fitted is a regular expression of the source, and how much its name says that it is an argument's.
type fitted struct {
	whole      *regexp.Regexp
	name, text string
	near       int
}

// compiled are the expressions of the source that Go knows.
func (d *driver) compiled() []fitted {
	if d.expressions == nil {
		d.expressions = []fitted{}
		for _, p := range d.cfg.Hints.Literals.Patterns {
			if whole, err := regexp.Compile(`^(?:` + p.Expression + `)$`); err == nil {
				d.expressions = append(d.expressions, fitted{whole: whole, name: p.Name, text: p.Expression})
			}
		}
	}
	return d.expressions
}

// ownPatterns gives each refused text that does not match an expression of its own name in the source a value that
// does. nil is for nothing left to try.
func (d *driver) ownPatterns(t *target, args json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	if t.what != WhatTool || len(d.cfg.Hints.Literals.Patterns) == 0 || json.Unmarshal(args, &given) != nil {
		return nil
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, ok := textOf(given[name])
		own := d.patternsFor(name, "")
		if !ok || len(own) == 0 || own[0].near == 0 || own[0].whole.MatchString(value) {
			continue
		}
		if next := d.fitting(own[0]); next != "" {
			given[name], changed = likeOld(given[name], next), true
		}
	}
	if next := arguments(given, changed); next != nil && !t.wasGiven(next) {
		return next
	}
	return nil
}

// patterned gives one of the refused texts of which the refusal speaks a value for an expression of the source, in
// turns. nil is for nothing left to try.
func (d *driver) patterned(t *target, args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if t.what != WhatTool || len(d.cfg.Hints.Literals.Patterns) == 0 || len(text) > 4096 || json.Unmarshal(args, &given) != nil {
		return nil
	}
	for _, name := range about(given, text) {
		value, _ := textOf(given[name])
		tried := d.patternsFor(name, text)
		for _, p := range tried[:min(len(tried), maxFitted)] {
			next := d.fitting(p)
			if next == "" || p.whole.MatchString(value) {
				continue
			}
			one := maps.Clone(given)
			one[name] = likeOld(given[name], next)
			if next := arguments(one, true); !t.wasGiven(next) {
				return next
			}
		}
	}
	return nil
}

func textOf(raw json.RawMessage) (string, bool) {
	var value string
	err := json.Unmarshal(raw, &value)
	return value, err == nil
}

// patternsFor are the expressions of the source, those first whose name shares words with an argument's, then those
// whose name shares words with the refusal.
func (d *driver) patternsFor(argument, refusal string) []fitted {
	own, said := schema.Words(argument), schema.Words(refusal)
	out := slices.Clone(d.compiled())
	for i := range out {
		for _, w := range schema.Words(out[i].name) {
			if slices.Contains(own, w) {
				out[i].near += 2
			}
			if slices.Contains(said, w) {
				out[i].near++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b fitted) int { return cmp.Compare(b.near, a.near) })
	return out
}

// fitting is a value that an expression takes, "" for none that may be given.
func (d *driver) fitting(p fitted) string {
	if i := slices.IndexFunc(plainValues, p.whole.MatchString); i >= 0 {
		return plainValues[i]
	}
	if s := d.matching(`^(?:` + p.text + `)$`); d.harmless(s) {
		return s
	}
	return ""
}
