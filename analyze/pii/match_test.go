package pii

import (
	"bytes"
	"regexp"
	"testing"
)

var (
	longRun  = regexp.MustCompile(`[A-Za-z0-9+/=_.-]{20}`)
	anyDigit = regexp.MustCompile(`[0-9]`)
)

// FuzzShortCuts compares what tells most texts from those with a secret with expressions for the same.
func FuzzShortCuts(f *testing.F) {
	for _, s := range []string{"sk-abcdefghijklmnopq", "0123456789abcdefghi", "no digit in any of these words \xB9:/", "a, bc. 7", "x " + "abcdefghijklmnopqrst y"} {
		for before := range 3 {
			f.Add(append(bytes.Repeat([]byte(" x"), before*7), s...))
		}
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		m := matcher{t: s}
		if got, want := m.hasLong(), longRun.Match(s); got != want {
			t.Fatalf("a long run in %q: %v", s, got)
		}
		want := len(s)
		if at := anyDigit.FindIndex(s); at != nil {
			want = at[0]
		}
		if got := nextDigit(s, 0); got != want {
			t.Fatalf("the first digit of %q is at %d, want %d", s, got, want)
		}
	})
}
