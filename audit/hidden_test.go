package audit

import (
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/text"
)

// TestHidden tells what hides code or orders from characters that are data.
func TestHidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src string
		want      bool
	}{
		{"override and isolate around code", "if (level != \"user\u202e \u2066// admin\u2069\") {}", true},
		{"one override", "a = \"\u202e\"", true},
		{"overrides many times", "a\u202e\u202e\u202e\u202e\u202eb", true},
		{"override behind a mark", "a\u200e\u200e\u202eb", true},
		{"override behind a zero-width space", "a\u200b\u202eb", true},
		{"end of a code page", "\u05ea\ufffd\ufffd\u200e\u200f\ufffd", false},
		{"marks that spell", "a\u200e\u200f\u200e\u200e\u200f\u200f\u200e\u200fb", true},
		{"joiners that spell", "a\u200c\u200d\u200c\u200d\u200c\u200d\u200c\u200db", true},
		{"table of controls", "[\u202a\u202b\u202c\u202d\u202e]", false},
		{"table of blanks", "[\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062]", false},
		{"zero-width spaces", "a\u200bb", false},
	} {
		got := false
		for _, h := range text.Scan(c.src) {
			got = got || h.Rule == text.Hidden && hidesInSource(h, c.src)
		}
		if got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
