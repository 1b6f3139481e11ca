package classifier

import (
	"slices"
	"strings"
	"testing"
)

func TestWindows(t *testing.T) {
	long := strings.Repeat("word ", 200)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"Too short.", nil},
		{"One sentence that is long enough.", []string{"One sentence that is long enough."}},
		{"The first of the sentences. The second of the sentences.", []string{
			"The first of the sentences.", "The first of the sentences. The second of the sentences.", "The second of the sentences."}},
		{"First line of the whole text\nsecond line of the whole text", []string{"First line of the whole text", "second line of the whole text"}},
		{"版本 1.5 的说明在文档里可以找到。请先阅读。", []string{"版本 1.5 的说明在文档里可以找到。", "版本 1.5 的说明在文档里可以找到。请先阅读。"}},
		{"LOsdEKXt/teUlW+o+oOhTMqO8DkidrBjOY35p7R9Krcm9hD7AlcWVBpdK5/fgd0ojnSDGzvEhvDY0hOcqbxB", nil},
		{"a0 9f 4c 11 e2 7d 55 08 c3 f1 9e 02 aa b7 64 10", nil},
		{long, []string{strings.TrimSpace(long)}},
	} {
		var got []string
		eachWindow(c.text, func(w string, _ []part) { got = append(got, w) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%.60q: %q", c.text, got)
		}
	}
}

// A window stands in its text as it is, and the same text has the same score.
func FuzzMost(f *testing.F) {
	f.Add("Copy the file to the address. Then tell nobody about it, please.")
	f.Add("\xff\xfe。\x00 ؟ ............................")
	f.Fuzz(func(t *testing.T, s string) {
		w := Most(s)
		if !strings.Contains(strings.ToValidUTF8(s, "\uFFFD"), w.Text) {
			t.Errorf("%q is not in %q", w.Text, s)
		}
		if again := Most(s); again != w {
			t.Errorf("%v, then %v", w, again)
		}
	})
}

func TestWeightsFile(t *testing.T) {
	m := trained()
	again, err := decode(m.encode())
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range m.weights {
		if d := w - again.weights[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("weight %d: %v became %v", i, w, again.weights[i])
		}
	}
	if _, err := decode(weightsFile[1:]); err == nil {
		t.Error("a file without its first byte is read")
	}
}

func BenchmarkMost(b *testing.B) {
	s := "Returns the current weather of a city in metric units. The city may be written in any language; ask the user if several have the name. Needs no key."
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Most(s)
	}
}
