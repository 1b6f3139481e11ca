package schema

import (
	"math/rand"
	"testing"

	"pgregory.net/rapid"
)

func newRand(s *Source) *rand.Rand { return rand.New(s) }

// TestWrittenTextsMatch holds that ordinary expressions are met at once.
func TestWrittenTextsMatch(t *testing.T) {
	for _, text := range []string{
		`^[a-z]+$`, `^\d{3}-\d{4}$`, `^(foo|bar|baz)?$`, `^[A-Za-z_][A-Za-z0-9_]*$`, `^#(?:[0-9a-fA-F]{3}){1,2}$`, `^https?://[^\s/$.?#].[^\s]*$`,
		`^(?<year>\d{4})-\k<year>$`, `^v?\d+\.\d+\.\d+(-[\w.]+)?$`, `^\p{Lu}\p{Ll}*$`, `^[^<>:"/\\|?*]+$`, `^\u0041\x42$`, `^\/[a-z]+\/$`, `^a{2,}b{0,1}c{3}$`,
		`^[\w.+-]+@[\w-]+\.[a-z]{2,}$`, `^.{3,5}$`, `^\S+\s\S+$`, `^[-a]$`, `^[a\-z]$`, `^x(?:y(?:z|w))*$`,
	} {
		e := newEngine()
		re, err := e.compile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		g := Generator{patterns: map[string]*pattern{}}
		p := g.pattern(re)
		rng := newRand(NewSource(1))
		for try := range 40 {
			s, ok := p.write(rng, 0, 60, Valid, try)
			if !ok || !re.MatchString(s) {
				t.Errorf("%s: %q does not match (%v)", text, s, ok)
				break
			}
		}
	}
}

// drawExpression draws an expression from the subset that is written exactly.
func drawExpression(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if depth == 0 {
			return rapid.SampledFrom([]string{"a", "[0-9]", `\d`, `\w`, "[^a]", ".", "x", `\.`}).Draw(t, "atom")
		}
		a := drawExpression(depth-1).Draw(t, "a")
		b := drawExpression(depth-1).Draw(t, "b")
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			return a + b
		case 1:
			return "(?:" + a + "|" + b + ")"
		case 2:
			return "(?:" + a + "){1,3}" + b
		case 3:
			return "(" + a + ")*" + b
		}
		return a + "?" + b
	})
}

func TestWrittenTextsMatchAnyExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "^" + drawExpression(rapid.IntRange(0, 4).Draw(t, "depth")).Draw(t, "expression") + "$"
		e := newEngine()
		re, err := e.compile(text)
		if err != nil {
			t.Skip("does not compile")
		}
		g := Generator{patterns: map[string]*pattern{}}
		s, ok := g.pattern(re).write(newRand(NewSource(rapid.Int64().Draw(t, "seed"))), 0, 200, Typical, 0)
		if !ok || !re.MatchString(s) {
			t.Fatalf("%s: %q does not match", text, s)
		}
	})
}

// TestNumbersKeepTheirBounds draws bounds and steps at random.
func TestNumbersKeepTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(-1000, 1000).Draw(t, "lo")
		width := rapid.IntRange(1, 50).Draw(t, "width")
		step := rapid.SampledFrom([]string{"", `,"multipleOf":3`, `,"multipleOf":0.5`, `,"multipleOf":0.07`}).Draw(t, "step")
		kind := rapid.SampledFrom([]string{"integer", "number"}).Draw(t, "type")
		raw := []byte(`{"type":"` + kind + `","minimum":` + decimal(int64(lo), 1) + `,"exclusiveMaximum":` + decimal(int64(lo+width*10), 1) + step + `}`)
		g, err := New(raw, Options{})
		if err != nil {
			return
		}
		seed := rapid.Int64().Draw(t, "seed")
		for _, class := range allClasses {
			v, err := g.Draw(seed, class)
			if err != nil {
				t.Fatalf("%s %v: %v", raw, class, err)
			}
			if err := g.Check(v); err != nil {
				t.Fatalf("%s: %s: %v", raw, v, err)
			}
		}
	})
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"entityNames": "[entity name]", "repo_path": "[repo path]", "URLPath": "[url path]", "file-paths": "[file path]", "HTTPServer": "[http server]", "status": "[status]",
	} {
		if got := words(name); sprint(got) != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
}

func sprint(list []string) string {
	s := "["
	for i, w := range list {
		if i > 0 {
			s += " "
		}
		s += w
	}
	return s + "]"
}
