package text

import "testing"

func TestKeptApart(t *testing.T) {
	for _, c := range []struct {
		argument, sentence string
		want               bool
	}{
		{"practice", "Each practice sees and changes its own visits only.", true},
		{"practice_id", "Visits are never shown to another practice.", true},
		{"library", "Books are private to one library.", true},
		{"library", "The books of other libraries are never listed.", true},
		{"practice", "Keeps the visits of a practice.", false},
		{"practice", "Each visit has its own number. The practice is optional.", false},
		{"id", "Each id is only used once.", false},
		{"a.b", "Each a.b has its own.", false},
	} {
		re := KeptApart(c.argument)
		if got := re != nil && re.MatchString(c.sentence); got != c.want {
			t.Errorf("%s in %q: %t", c.argument, c.sentence, got)
		}
	}
}
