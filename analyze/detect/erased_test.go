package detect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestErased(t *testing.T) {
	t.Parallel()
	const esc, line = "\x1b", "+wget -q https://www.example.com/data.tar.gz"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a line", "one\n" + line + "\n" + esc + "[1A" + esc + "[2K+exec make", []string{line}},
		{"coloured, with a short move", esc + "[32m" + line + esc + "[0m\n" + esc + "[A" + esc + "[K", []string{line}},
		{"two above", line + "\nsecond line of it\n" + esc + "[1A" + esc + "[1A" + esc + "[J", []string{line}},
		{"in one byte", line + "\n\u009b1A\u009b2K", []string{line}},
		{"none above", esc + "[5A" + esc + "[2K" + line, nil},
		{"moved without an erasure", line + "\n" + esc + "[1A\nmore of it" + esc + "[2K", nil},
		{"its own line", line + "\r" + esc + "[2K", nil},
		{"a mark", "--\n" + esc + "[1A" + esc + "[2K", nil},
		{"many moves over many lines", strings.Repeat("\n", 1<<17) + strings.Repeat(esc+"[99999A"+esc+"[K", 1<<13), nil},
		{"a huge move", line + "\n" + esc + "[99999999999999999999A" + esc + "[2K", nil},
	} {
		var got []string
		for _, q := range erased(c.text) {
			got = append(got, q.Payload)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	call2 := call(2, "show_patch", `{"patch":"one\n`+line+`\nthree"}`)
	result := "one\n" + line + "\n" + esc + "[1A" + esc + "[2Kthree"
	echo, err := json.Marshal(map[string]string{"patch": result})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  bool
	}{
		{"what the call brought", append(slices.Clone(hello), call2, says(2, result)), true},
		{"its own progress", append(slices.Clone(hello), call(2, "show_patch", `{"patch":"three"}`), says(2, result)), false},
		{"what the call erased itself", append(slices.Clone(hello), call(2, "show_patch", string(echo)), says(2, result)), false},
	} {
		l := judge(t, Options{OwnClient: true}, c.lines...)
		found := false
		for _, a := range l.Annotations {
			found = found || a.Subcategory == "terminal_sequence" && a.Severity == 3 && strings.Contains(a.Explanation, "erases it")
		}
		if found != c.want {
			t.Errorf("%s: found %v, want %v: %+v", c.name, found, c.want, l.Annotations)
		}
	}
}

func FuzzErased(f *testing.F) {
	f.Add("one\n\x1b[1A\x1b[2Ktwo")
	f.Add("\u009b9A\u009bJ")
	f.Fuzz(func(t *testing.T, s string) {
		for _, q := range erased(s) {
			if q.Offset < 0 || q.End > len(s) || q.Offset >= q.End || q.Payload == "" {
				t.Errorf("%+v of %q", q, s)
			}
		}
	})
}
