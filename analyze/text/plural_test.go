package text

import "testing"

func TestPlural(t *testing.T) {
	for _, c := range []struct {
		n    int
		word string
		want string
	}{
		{0, "tool", "0 tools"}, {1, "tool", "1 tool"}, {2, "tool", "2 tools"}, {3, "entry", "3 entries"},
		{2, "key", "2 keys"}, {2, "branch", "2 branches"}, {2, "process", "2 processes"}, {1, "entry", "1 entry"},
		{2, "undeclared behaviour", "2 undeclared behaviours"},
	} {
		if got := Plural(c.n, c.word); got != c.want {
			t.Errorf("Plural(%d, %q) = %q, want %q", c.n, c.word, got, c.want)
		}
	}
}
