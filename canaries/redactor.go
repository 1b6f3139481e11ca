package canaries

import (
	"bytes"
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// LeastPassed is the length in bytes from which on a Redactor tells a value from
// other text. Shorter ones stand in any log by chance.
const LeastPassed = 6

// passedID stands, in brackets, in place of a real value.
const passedID = "passed"

// Passed is the text that a Redactor leaves in place of a value.
const Passed = "[" + passedID + "]"

// Redactor takes real values out of what a run writes, however a server wrote them:
// in every encoding in which Set finds decoys, and longer values also in part. Nil
// redacts nothing. It may be used from many goroutines.
type Redactor struct{ set *Set }

// NewRedactor returns a Redactor of values. Those shorter than LeastPassed are left
// out; it is nil where none is left.
func NewRedactor(values []string) *Redactor {
	var list []Canary
	for _, v := range values {
		for _, text := range secretsOf(v) {
			if len(text) >= LeastPassed {
				list = append(list, Canary{ID: passedID, Kind: passedID, Value: text})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	// The longest come first, so that none leaves a rest of another.
	slices.SortStableFunc(list, func(a, b Canary) int { return cmp.Compare(len(b.Value), len(a.Value)) })
	return &Redactor{newSearch(list, cutter{passedNeedles, LeastPassed})}
}

// secretsOf are a value, and the password of a URL, which programs use by itself.
func secretsOf(value string) []string {
	out := []string{value}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			out = append(out, password)
		}
	}
	return out
}

// publicOrigin matches the part of a URL that names a server, and holds no password.
var publicOrigin = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#@\s]*(?:[/?#]|$)`)

// passedNeedles are the whole value, and overlapping pieces of a long one: a tracer
// cuts long texts, and others wrap them. A piece of its origin alone is public.
func passedNeedles(c Canary) []string {
	v := c.Value
	if len(v) <= window {
		return []string{v}
	}
	secret := v[len(publicOrigin.FindString(v)):]
	out := overlapping(secret)
	if joined := strings.Join(strings.Fields(secret), ""); joined != secret {
		out = append(out, overlapping(joined)...) // as a view of wrapped lines has it
	}
	if len(secret) < len(v) && len(secret) <= window {
		out = append(out, v) // the rest may be too short to be told by itself
	}
	return out
}

// overlapping cuts a text into windows, each of which begins in the middle of the one before.
func overlapping(s string) []string {
	if len(s) <= window {
		return []string{s}
	}
	return append(windows(s), windows(s[window/2:])...)
}

// Finds reports whether a text holds a value in any spelling.
func (r *Redactor) Finds(text []byte) bool {
	if r == nil {
		return false
	}
	return len(r.set.Find(text)) > 0 ||
		slices.ContainsFunc(r.set.literals, func(l literal) bool { return bytes.Contains(text, []byte(l.text)) })
}

// Redact replaces what a text holds of the values by "[passed]".
func (r *Redactor) Redact(text string) string {
	if r == nil || len(text) < LeastPassed {
		return text
	}
	return r.set.Redact(text)
}
