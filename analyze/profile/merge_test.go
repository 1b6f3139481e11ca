package profile

import "testing"

func TestCommonPath(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"GET /a/b", "GET /a/b", "GET /a/b"},
		{"GET /repos/a/x", "GET /repos/a/y/z", "GET /repos/a/"},
		{"GET /a", "POST /a", ""},
		{"GET /a", "GET /b", "GET /"},
		{"GET /a", "", ""},
	} {
		if got := commonPath(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
