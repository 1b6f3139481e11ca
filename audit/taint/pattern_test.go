package taint

import "testing"

func TestBeginsWithDash(t *testing.T) {
	for text, want := range map[string]bool{
		`^\s*(SELECT|WITH|VALUES)\b`: false,
		`^[a-z][a-z0-9-]*$`:          false,
		`^\w+@\w+`:                   false,
		`^https?://`:                 false,
		`^(?:[a-z]+|\d+)\b`:          false,
		`^ ?v\d+`:                    false,
		`^[a-z-]+$`:                  true,
		`^-?\d+$`:                    true,
		`^\s`:                        true, // what follows may be anything
		`^[^;]+$`:                    true,
		`^[a-z]*`:                    true,
		`^(?:SELECT|)`:               true,
		`^.+\.txt$`:                  true,
		`^\S+$`:                      true,
		`^(a|\s*-)b`:                 true,
	} {
		p, ok := compiled(text, "i")
		if !ok {
			t.Fatalf("%s is no pattern", text)
		}
		if got := beginsWithDash(p.tree); got != want {
			t.Errorf("a match of %s begins with a dash: %t, want %t", text, got, want)
		}
	}
}
