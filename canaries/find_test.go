package canaries

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"pgregory.net/rapid"
)

// shared is one set for the tests that only read it.
var shared = sync.OnceValue(func() *Set {
	s, err := New(seeded(42), Options{})
	if err != nil {
		panic(err)
	}
	return s
})

func noise(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Every canary is found in every encoding, wherever it starts and however the
// stream is split.
func TestAnySplitFindsEveryEncoding(t *testing.T) {
	s := shared()
	names := slices.Sorted(maps.Keys(written))
	rapid.Check(t, func(t *rapid.T) {
		c := drawCanary(t, s)
		name := rapid.SampledFrom(names).Draw(t, "encoding")
		before := rapid.StringOfN(rapid.RuneFrom([]rune("ab %&\\=.\r\n")), 0, 70, -1).Draw(t, "before")
		text := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "noise")
		text = append(append(text, "\x00<"+written[name](before+c.Value)...), "> after it all, some more"...)
		sc := s.Scanner()
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 200)).Draw(t, "write")
			_, _ = sc.Write(rest[:n])
			rest = rest[n:]
		}
		if !has(sc.Hits(), c.ID) {
			t.Fatalf("%s written in %s is not found in %q", c.ID, name, text)
		}
	})
}

// A line of a chunk may begin like a size; only what follows a semicolon is an extension.
func TestChunkThatLooksLikeASize(t *testing.T) {
	s := FromCanaries([]Canary{{ID: "key", Kind: "aws", Value: "AKIAQ3ZK7NNM2RBXPLCE"}})
	for _, text := range []string{
		"7\r\na AKIAQ\r\n7\r\n3ZK7NNM\r\n7\r\n2RBXPLC\r\n1\r\nE\r\n0\r\n\r\n",
		"7 ;x=y\r\na AKIAQ\r\n7;x\r\n3ZK7NNM\r\n7 \r\n2RBXPLC\r\n1\r\nE\r\n0\r\n\r\n",
	} {
		if !has(s.Find([]byte(text)), "key") {
			t.Errorf("not found in %q", text)
		}
	}
}

// Every canary is found in every encoding, at every offset, whatever stands around it.
func TestEveryEncodingIsFound(t *testing.T) {
	s := shared()
	for name, write := range written {
		for _, c := range s.Canaries() {
			for before := range 6 {
				text := write(strings.Repeat("x", before) + c.Value + strings.Repeat("y", before%3))
				if hits := s.Find([]byte("{" + text + "}")); !slices.ContainsFunc(hits, func(h Hit) bool { return h.ID == c.ID }) {
					t.Errorf("%s written in %s after %d bytes is not found", c.ID, name, before)
				}
			}
		}
	}
}

func TestEncodingIsNamed(t *testing.T) {
	s := shared()
	for _, c := range s.Canaries() {
		for _, name := range []string{"raw", "base64", "hex", "base32", "base32hex", "reversed", "rot13"} {
			hits := s.Find([]byte(written[name](c.Value)))
			if !slices.ContainsFunc(hits, func(h Hit) bool { return h.ID == c.ID && h.Encoding == name }) {
				t.Errorf("%s in %s: %v", c.ID, name, hits)
			}
		}
	}
}

// Any half of a long secret is enough.
func TestPartsAreFound(t *testing.T) {
	s := shared()
	for _, c := range s.Canaries() {
		v := c.Value
		if len(v) < 2*window || c.ID == "kube-key" { // its second half is no secret
			continue
		}
		parts := []string{v[len(v)/2:], v[len(v)/4:]}
		if c.Kind != "ssh" && c.Kind != "jwt" { // the first half is no secret
			parts = append(parts, v[:len(v)*3/4])
		}
		for i, part := range parts {
			if hits := s.Find([]byte(part)); len(hits) == 0 || hits[0].ID != c.ID {
				t.Errorf("%s: part %d is not found", c.ID, i)
			}
		}
	}
	key := byID(t, s, "ssh-key").Value
	lines := strings.Split(key, "\n")
	quoted, _ := json.Marshal(strings.Join(lines[len(lines)*2/3:len(lines)*2/3+2], "\n"))
	if hits := s.Find(quoted); len(hits) != 1 || hits[0].ID != "ssh-key" || hits[0].Encoding != "raw" {
		t.Errorf("two lines of the key, escaped: %v", hits)
	}
}

func TestOtherKeysAreNotOurs(t *testing.T) {
	s, other := shared(), newSet(t, 43)
	var all bytes.Buffer
	for _, f := range other.Files() {
		all.Write(f.Data)
	}
	all.WriteString(strings.Join(other.Env(), "\n"))
	for name, write := range written {
		if hits := s.Find([]byte(write(all.String()))); hits != nil {
			t.Errorf("another developer's files, written in %s, give %v", name, hits)
		}
	}
}

func TestOffsets(t *testing.T) {
	s := shared()
	c := byID(t, s, "history-mysql")
	text := "0123456789" + c.Value + " and " + c.Value
	if hits := s.Find([]byte(text)); len(hits) != 1 || hits[0] != (Hit{"history-mysql", "raw", 10}) {
		t.Errorf("got %v", hits)
	}
}

func TestEmptyAndForeignSets(t *testing.T) {
	for _, list := range [][]Canary{nil, {{ID: "short", Value: "abc"}}, {{ID: "pem", Value: "-----BEGIN X-----"}}, {{ID: "key", Value: "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n"}}} {
		s := FromCanaries(list)
		if hits := s.Find([]byte("abc -----BEGIN X-----")); hits != nil {
			t.Errorf("%v: %v", list, hits)
		}
		sc := s.Scanner()
		for range 3 {
			if n, err := sc.Write([]byte("abcabcabc")); n != 9 || err != nil {
				t.Errorf("Write: %d, %v", n, err)
			}
		}
		if got := s.Redact("abc"); got != "abc" {
			t.Errorf("Redact: %q", got)
		}
	}
}

func TestFromCanariesFindsTheSame(t *testing.T) {
	s := shared()
	again := FromCanaries(s.Canaries())
	for _, f := range s.Files() {
		if !slices.Equal(s.Find(f.Data), again.Find(f.Data)) {
			t.Errorf("%s: other hits", f.Path)
		}
	}
	if !slices.Equal(again.Watch(), s.Watch()) {
		t.Error("other watches")
	}
}

// drawText draws noise with canaries in it, whole and in part, in all encodings.
func drawText(t *rapid.T, s *Set) []byte {
	list := s.Canaries()
	var text []byte
	for range rapid.IntRange(0, 6).Draw(t, "pieces") {
		text = append(text, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "noise")...)
		v := list[rapid.IntRange(0, len(list)-1).Draw(t, "canary")].Value
		from := rapid.IntRange(0, len(v)-1).Draw(t, "from")
		to := rapid.IntRange(from, len(v)).Draw(t, "to")
		e := encodings[rapid.IntRange(0, len(encodings)-1).Draw(t, "encoding")]
		forms := e.forms(v[from:to])
		form := forms[rapid.IntRange(0, len(forms)-1).Draw(t, "form")]
		text = append(text, drawEscaped(t, form)...)
	}
	return text
}

// escapers write one character in the ways that each view undoes.
var escapers = map[string][]string{
	"percent": {"%%%02x", "%%%02X", "%%25%02x", "%%2525%02x"}, "html": {"&#%d;", "&#x%x;", "&#X%04X;", "&amp;#%d;", "&amp;amp;#x%02x;"},
	"json": {`\u%04x`, `\u%04X`, `\\u%04x`, `\x%02x`, `\\\\u%04X`}, "quoted-printable": {"=%02X", "=%02x"},
}

// drawEscaped escapes some of a text's characters, or splits it.
func drawEscaped(t *rapid.T, s string) string {
	name := rapid.SampledFrom([]string{"", "", "percent", "html", "json", "quoted-printable", "chunked", "labels", "wrapped", "wrapped CR", "wrapped in JSON"}).Draw(t, "view")
	every := rapid.IntRange(1, 9).Draw(t, "every")
	var out strings.Builder
	for i := range len(s) {
		switch how := escapers[name]; {
		case i%every != 0 || name == "":
			out.WriteByte(s[i])
		case how != nil:
			fmt.Fprintf(&out, how[(i/every)%len(how)], s[i])
		case name == "wrapped":
			out.WriteString(string(s[i]) + "\n")
		case name == "wrapped CR":
			out.WriteString(string(s[i]) + "\r\n")
		case name == "wrapped in JSON":
			out.WriteString(string(s[i]) + `\r\n`)
		case name == "labels":
			out.WriteString(string(s[i]) + ".")
		default:
			fmt.Fprintf(&out, "%c\r\n%x\r\n", s[i], every)
		}
	}
	return out.String()
}

// Whatever the pieces in which a stream comes, the hits are those of the whole.
func TestAnySplitGivesTheSameHits(t *testing.T) {
	s := shared()
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, s)
		want := s.Find(text)
		sc := s.Scanner()
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 90)).Draw(t, "write")
			_, _ = sc.Write(rest[:n])
			rest = rest[n:]
		}
		if got := sc.Hits(); !slices.Equal(got, want) {
			t.Fatalf("split: %v\nwhole: %v", got, want)
		}
		if want := naive(s, text); !slices.Equal(direct(s, text), want) {
			t.Fatalf("found: %v\nthere: %v", direct(s, text), want)
		}
	})
}

// direct finds what lies below no layers.
func direct(s *Set, text []byte) []Hit {
	sc := s.Scanner()
	sc.look(text, 0, 0)
	return sc.Hits()
}

// naive finds by trying every pattern on the whole text and on each whole view.
func naive(s *Set, text []byte) []Hit {
	sc := s.Scanner()
	try := func(view int, out []byte, from, to []int64) {
		var low []byte
		for _, c := range out {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			low = append(low, c)
		}
		for _, p := range s.matcher().patterns {
			in := out
			if p.fold {
				in = low
			}
			for at := bytes.Index(in, []byte(p.text)); at >= 0; {
				a, b := from[at], to[at+len(p.text)-1]
				if view == 0 || b-a > int64(len(p.text)) {
					sc.seen(view, p.hit, a, b)
				}
				next := bytes.Index(in[at+1:], []byte(p.text))
				if next < 0 {
					break
				}
				at += 1 + next
			}
		}
	}
	from, to := make([]int64, len(text)), make([]int64, len(text))
	for i := range text {
		from[i], to[i] = int64(i), int64(i+1)
	}
	try(0, text, from, to)
	for i, e := range escapes {
		if len(s.matcher().patterns) > 0 && bytes.IndexByte(text, e.trigger) >= 0 {
			out, from, to := undo(e, text)
			try(i+1, out, from, to)
		}
	}
	return sc.Hits()
}

// undo undoes all escapes of a whole text.
func undo(e escape, text []byte) (out []byte, from, to []int64) {
	for i := 0; i < len(text); {
		value, n := int(text[i]), 1
		if text[i] == e.trigger {
			v, size := e.read(text[i:])
			if size == cutOff {
				break
			}
			if size != notEscape {
				value, n = v, size
			}
		}
		if value != drop || n == 1 && text[i] != e.trigger {
			out, from, to = append(out, byte(value)), append(from, int64(i)), append(to, int64(i+n))
		}
		i += n
	}
	return out, from, to
}

func TestRandomBytesGiveNothing(t *testing.T) {
	s := shared()
	for seed := range uint64(scale.N(1, 4)) {
		raw := noise(scale.N(1<<18, 1<<20), seed)
		quoted, _ := json.Marshal(string(raw))
		for _, text := range []string{
			string(raw), base64.StdEncoding.EncodeToString(raw), hex.EncodeToString(raw), base32.StdEncoding.EncodeToString(raw),
			url.QueryEscape(string(raw)), string(quoted), html.EscapeString(string(raw)), spelled(string(raw), "%%%02x"), string(chunked(raw, 11)),
		} {
			if hits := s.Find([]byte(text)); hits != nil {
				t.Fatalf("noise gives %v", hits)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if hits := s.Find(rapid.SliceOfN(rapid.Byte(), 0, 4000).Draw(t, "noise")); hits != nil {
			t.Fatalf("noise gives %v", hits)
		}
	})
}

// The sources of this package, in every dress, hold no canary; nor do those of the project,
// where the whole is asked for.
func TestSourcesGiveNothing(t *testing.T) {
	dir, least := ".", 100_000
	if scale.Deep() {
		dir, least = "..", 1_000_000
	}
	sourcesGiveNothing(t, dir, least)
}

// sourcesGiveNothing looks for canaries in the sources below a directory, which are
// at least so many bytes.
func sourcesGiveNothing(t *testing.T, dir string, least int) {
	t.Helper()
	s := shared()
	size := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".json") {
			return nil // what goes away meanwhile is not looked at
		}
		text, err := os.ReadFile(name)
		if err != nil || len(text) > 1<<20 {
			return nil
		}
		size += len(text)
		for how, write := range written {
			if !scale.Part(name+how, 4) {
				continue
			}
			if hits := s.Find([]byte(write(string(text)))); hits != nil {
				t.Errorf("%s, written in %s: %v", name, how, hits)
			}
		}
		return nil
	})
	if err != nil || size < least {
		t.Errorf("only %d bytes were looked at: %v", size, err)
	}
}

// After redaction nothing is found, and what is no secret is still there.
func TestRedact(t *testing.T) {
	s := shared()
	for name, write := range written {
		for _, c := range s.Canaries() {
			text := "before <" + write(c.Value) + "> after"
			got := s.Redact(text)
			if hits := s.Find([]byte(got)); hits != nil || strings.Contains(got, c.Value) {
				t.Errorf("%s in %s: still there: %q", c.ID, name, got)
			}
			if !strings.Contains(got, "["+c.ID+"]") || !strings.HasPrefix(got, "before <") || !strings.HasSuffix(got, "> after") {
				t.Errorf("%s in %s: %q", c.ID, name, got)
			}
		}
	}
	pg := byID(t, s, "env-database")
	if got, want := s.Redact("postgresql://app:"+pg.Value+"@db:5432/app"), "postgresql://app:[env-database]@db:5432/app"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		got := s.Redact(string(drawText(t, s)))
		if hits := s.Find([]byte(got)); hits != nil {
			t.Fatalf("%v in %q", hits, got)
		}
	})
}

func FuzzFind(f *testing.F) {
	// Trying each text by itself takes as long as there are texts: a few of each
	// kind find what all would.
	var few []Canary
	kinds := map[string]int{}
	for _, c := range shared().Canaries() {
		if kinds[c.Kind]++; kinds[c.Kind] == 1 && len(c.Value) < 100 {
			few = append(few, c)
		}
	}
	s := FromCanaries(few)
	for i, c := range s.Canaries() {
		f.Add([]byte("x"+c.Value), uint16(i))
		f.Add([]byte(base64.StdEncoding.EncodeToString([]byte(c.Value))), uint16(i))
		f.Add([]byte(hex.EncodeToString([]byte(c.Value))), uint16(7*i))
		for _, format := range []string{"%%25%02x", "&#%d;", `\\\\u%04x`, "=%02X", "%c\r\n", "%c."} {
			f.Add([]byte(spelled(c.Value[len(c.Value)*2/3:], format)), uint16(3*i))
		}
		f.Add(chunked([]byte(c.Value), 1+i), uint16(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, step uint16) {
		want := s.Find(text)
		if found, there := direct(s, text), naive(s, text); !slices.Equal(found, there) {
			t.Fatalf("found: %v\nthere: %v", found, there)
		}
		sc := s.Scanner()
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(step)%200+1)
			_, _ = sc.Write(rest[:n])
			rest = rest[n:]
		}
		if got := sc.Hits(); !slices.Equal(got, want) {
			t.Fatalf("split: %v\nwhole: %v", got, want)
		}
		if hits := s.Find([]byte(s.Redact(string(text)))); hits != nil {
			t.Fatalf("after redaction: %v", hits)
		}
	})
}

// FuzzFromCanaries gives it what a log of another's making could hold.
func FuzzFromCanaries(f *testing.F) {
	for _, c := range shared().Canaries() {
		f.Add(c.Value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		s := FromCanaries([]Canary{{ID: "it", Value: value}})
		hits := s.Find([]byte(value))
		if len(s.matcher().patterns) > 0 && len(hits) == 0 {
			t.Fatalf("%q is not found in itself", value)
		}
		_ = s.Redact(value + value)
	})
}

func BenchmarkMatcherBuild(b *testing.B) {
	list := shared().Canaries()
	for b.Loop() {
		newMatcher(list, decoys, true)
	}
}
