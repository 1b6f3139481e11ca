package oracle

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"
	"testing"

	"crypto/rand"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func world(t *testing.T) *World {
	t.Helper()
	w, err := NewWorld("/data", "/home/dana", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Only an interpreter may make the whole token: an echo must not.
func TestNoCommandOrCodeSpellsItsToken(t *testing.T) {
	w := world(t)
	for m := range firsts {
		seen := map[string]bool{}
		for k := range Count() {
			token := Token(7, "x", k)
			in := At(w, m, k, token)
			effect := in.Token
			if in.Path == "" && in.Value != "" {
				effect = in.Value
			}
			if (in.Oracle == session.OracleCommand || in.Oracle == session.OracleCode) && strings.Contains(in.Text, effect) {
				t.Errorf("%s %s holds its effect: %s", in.Oracle, in.Context, in.Text)
			}
			if seen[in.Oracle+in.Context] {
				t.Errorf("%s %s is there twice", in.Oracle, in.Context)
			}
			seen[in.Oracle+in.Context] = true
			if in.Token == "" && in.Value == "" {
				t.Errorf("%s %s has no effect to look for", in.Oracle, in.Context)
			}
		}
	}
}

func TestEveryFileAimedAtIsPlanted(t *testing.T) {
	w := world(t)
	files := map[string]string{}
	for _, f := range w.Files() {
		files[strings.TrimSuffix(f.Path, path.Ext(f.Path))] += string(f.Data)
	}
	for k := range Count() {
		if in := At(w, Path, k, Token(1, "x", k)); in.Path != "" && !strings.Contains(files[in.Path], in.Value) {
			t.Errorf("%s aims at %s, which is not planted with its text", in.Context, in.Path)
		}
	}
}

func TestEveryTextOfTheWorldIsItsOwn(t *testing.T) {
	w, seen := world(t), map[string]bool{}
	for _, f := range []File{w.Outside, w.Beside, w.Linked, w.InLinked} {
		if seen[f.Value] || len(f.Value) < tokenLen {
			t.Errorf("%q", f.Value)
		}
		seen[f.Value] = true
	}
}

// A redirected request must be told from the one that was redirected.
func TestRedirectIsAimedElsewhere(t *testing.T) {
	token := Token(3, "x", 1)
	for k := range Count() {
		in := At(world(t), Address, k, token)
		if in.Context != "redirect" {
			continue
		}
		u, err := url.Parse(in.Text)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := path.Match(Moved, u.Host); !ok || err != nil || in.Host == u.Host || MovedTo != "http://"+in.Host || path.Base(u.Path) != token {
			t.Errorf("%+v", in)
		}
		return
	}
	t.Error("no input is redirected")
}

// What a name leads to must be told from the name.
func TestNameIsAimedElsewhere(t *testing.T) {
	token := Token(3, "x", 1)
	for k := range Count() {
		in := At(world(t), Address, k, token)
		if in.Context != "name of the metadata service" {
			continue
		}
		u, err := url.Parse(in.Text)
		if err != nil {
			t.Fatal(err)
		}
		led, err := path.Match(Led, u.Host)
		if moved, _ := path.Match(Moved, u.Host); !led || moved || err != nil || in.Host != LedTo || path.Base(u.Path) != token {
			t.Errorf("%+v", in)
		}
		return
	}
	t.Error("no name leads to the metadata service")
}

func TestPlaces(t *testing.T) {
	args := json.RawMessage(`{"b":{"x/y":"deep"},"a":"first","n":3,"list":["one","two"],"none":[]}`)
	got := Places(args)
	if len(got) != 3 || got[0] != (Place{"/a", "a", "first"}) || got[1] != (Place{"/b/x~1y", "x/y", "deep"}) || got[2] != (Place{"/list/0", "list", "one"}) {
		t.Fatalf("%+v", got)
	}
	for _, p := range got {
		out, ok := Put(args, p.At, "new <text>")
		if !ok || !strings.Contains(string(out), `"new <text>"`) || strings.Contains(string(out), `"`+p.Value+`"`) {
			t.Errorf("%s: %s %v", p.At, out, ok)
		}
	}
	for _, at := range []string{"/n", "/list/7", "/list/x", "/absent", "", "/a/b"} {
		if out, ok := Put(args, at, "new"); ok {
			t.Errorf("%q: %s", at, out)
		}
	}
}

func FuzzPut(f *testing.F) {
	f.Add(`{"a":["b"]}`, "/a/0", "x")
	f.Fuzz(func(_ *testing.T, args, at, text string) {
		Put(json.RawMessage(args), at, text)
		Places(json.RawMessage(args))
		_, _, _ = Extra(json.RawMessage(args), &World{}, []string{text}, func(int) string { return "token234567890" })
	})
}
