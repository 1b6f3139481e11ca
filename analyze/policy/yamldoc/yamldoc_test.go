package yamldoc

import (
	"errors"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2)
	for in, want := range map[string]string{
		"{a: [1, x, true, ~, 2020-01-01, 1.5]}": "",
		"{a: &x 1, b: *x}":                      "f:1:14: it: aliases and merges are not read here",
		"{a: !own x}":                           `f:1:5: it: the tag "!own" is not read here`,
		"{? [a] : b}":                           "f:1:4: it: the name of a member must be a text",
		deep:                                    "f:1:34: it is nested deeper than 32",
	} {
		r := &Reader{File: "f"}
		ok := r.Plain(r.Root([]byte(in)), "it")
		if err := r.Err(); ok != (want == "") || (err == nil) != ok || err != nil && err.Error() != want {
			t.Errorf("%s: %v, %v, want %s", in, ok, err, want)
		}
	}
}

func TestRoot(t *testing.T) {
	for in, fails := range map[string]bool{"": false, "# nothing": false, "a: [": true, "\xff\xfe\x00": true, strings.Repeat("a", MaxFile+1): true} {
		r := &Reader{File: "f"}
		root := r.Root([]byte(in))
		var fault *Error
		if root != nil || (r.Err() != nil) != fails || fails && !errors.As(r.Err(), &fault) {
			t.Errorf("%.20q: %v, %v", in, root, r.Err())
		}
	}
}

func FuzzRoot(f *testing.F) {
	f.Add([]byte("a: {b: [c]}"))
	f.Add([]byte("a: &a [*a]\n? b\n: !x y"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &Reader{File: "f"}
		root := r.Root(data)
		if root == nil {
			return
		}
		if ok := r.Plain(root, "it"); ok == (r.Err() != nil) {
			t.Fatalf("%v, %v", ok, r.Err())
		}
	})
}
