package seccomp

import "testing"

func TestFiltered(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]bool{
		"Name:\tcat\nSeccomp:\t2\nSeccomp_filters:\t1\n": true,
		"Name:\tcat\nSeccomp:\t0\nSeccomp_filters:\t0\n": false,
		"Name:\tSeccomp:\t2\n":                           false,
		"":                                               false,
	} {
		if got := filtered([]byte(status)); got != want {
			t.Errorf("%q: %t", status, got)
		}
	}
}

// Where no filter of another is around it, the filter on a thread of its own is not taken for one.
func TestOuter(t *testing.T) {
	t.Parallel()
	before, err := Outer()
	if err != nil {
		t.Fatal(err)
	}
	_ = Supported()
	if after, err := Outer(); err != nil || after != before {
		t.Errorf("%t, and then %t: %v", before, after, err)
	}
}
