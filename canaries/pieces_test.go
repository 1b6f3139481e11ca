package canaries

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func cut(s string, n int) []string {
	var out []string
	for len(s) > n {
		out, s = append(out, s[:n]), s[n:]
	}
	return append(out, s)
}

func has(hits []Hit, id string) bool {
	return slices.ContainsFunc(hits, func(h Hit) bool { return h.ID == id })
}

// digits are how tools write what they send in names.
var digitWriters = map[string]func(string) string{
	"hex": func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX": func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"base32": func(s string) string {
		return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(s))
	},
	"base32hex": func(s string) string { return strings.ToLower(base32.HexEncoding.EncodeToString([]byte(s))) },
}

func drawCanary(t *rapid.T, s *Set) Canary {
	list := s.Canaries()
	return list[rapid.IntRange(0, len(list)-1).Draw(t, "canary")]
}

// Each canary is found over names, however they are cut, counted and mixed.
func TestFindDNS(t *testing.T) {
	s := shared()
	layouts := map[string]func(i int, labels string) string{
		"plain":        func(_ int, l string) string { return l + ".evil.com" },
		"numbered":     func(i int, l string) string { return fmt.Sprintf("%d.%s.x.evil.com.", i, l) },
		"number last":  func(i int, l string) string { return fmt.Sprintf("%s.%d.session.evil.com", l, i) },
		"number first": func(i int, l string) string { return fmt.Sprintf("%d-%s.evil.com", i, l) },
	}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCanary(t, s)
		name := rapid.SampledFrom([]string{"hex", "HEX", "base32", "base32hex"}).Draw(t, "digits")
		layout := rapid.SampledFrom([]string{"plain", "numbered", "number last", "number first"}).Draw(t, "layout")
		size, labels := rapid.IntRange(8, 63).Draw(t, "label"), rapid.IntRange(1, 3).Draw(t, "labels")
		before := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1).Draw(t, "before")
		text := strings.TrimRight(digitWriters[name](before+c.Value), "=")
		var names []string
		parts := cut(text, size)
		for i := 0; i*labels < len(parts); i++ {
			group := parts[i*labels : min(len(parts), (i+1)*labels)]
			names = append(names, layouts[layout](i, strings.Join(group, ".")), "registry.npmjs.org", "www.evil.org")
			if rapid.Bool().Draw(t, "again") {
				names = append(names, names[len(names)-3])
			}
		}
		if layout != "plain" && rapid.Bool().Draw(t, "out of order") {
			slices.Reverse(names)
		}
		if hits := s.FindDNS(names); !has(hits, c.ID) {
			t.Fatalf("%s in %s is not found in %q", c.ID, name, names)
		}
	})
}

func TestFindDNSTellsTheName(t *testing.T) {
	s := shared()
	c := byID(t, s, "history-mysql")
	h := hex.EncodeToString([]byte(c.Value))
	hits := s.FindDNS([]string{"a.example.org", "zz.evil.com", h[:20] + ".evil.com", h[20:] + ".evil.com"})
	if want := []Hit{{c.ID, "labels+hex", 2}}; !slices.Equal(hits, want) {
		t.Errorf("got %v, want %v", hits, want)
	}
	if hits := s.FindDNS([]string{"", ".", "com", "a..b", "evil.com", "evil.com."}); hits != nil {
		t.Errorf("names of nothing give %v", hits)
	}
}

func TestFindURLs(t *testing.T) {
	s := shared()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCanary(t, s)
		parts := cut(c.Value, rapid.IntRange(1, 30).Draw(t, "size"))
		var keyed, params, paths []string
		for i, p := range parts {
			keyed = append(keyed, fmt.Sprintf("https://evil.com/c?n=%d&d=%s", i, url.QueryEscape(p)))
			params = append(params, fmt.Sprintf("p%d=%s", i, url.QueryEscape(p)))
			paths = append(paths, "http://evil.com/log/v1/"+url.PathEscape(p)+"#x")
		}
		for kind, urls := range map[string][]string{"keyed": keyed, "one": {"http://evil.com/?" + strings.Join(params, "&")}, "paths": paths} {
			if hits := s.FindURLs(urls); !has(hits, c.ID) {
				t.Fatalf("%s is not found in %s: %q", c.ID, kind, urls)
			}
		}
	})
}

func FuzzFindDNS(f *testing.F) {
	s := shared()
	f.Add("a.b.c\n1.a.b.c\n2.x.b.c")
	f.Add("1-a.evil.com\n0-b.evil.com\n..\n")
	f.Fuzz(func(_ *testing.T, names string) {
		s.FindDNS(strings.Split(names, "\n"))
		s.FindURLs(strings.Split(names, "\n"))
	})
}

// A canary that is cut into parts is found over them, whatever all messages say beside.
func TestFindSplit(t *testing.T) {
	s := shared()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCanary(t, s)
		for _, text := range []string{c.Value, base64.StdEncoding.EncodeToString([]byte(c.Value)), hex.EncodeToString([]byte(c.Value))} {
			before := rapid.SampledFrom([]string{"", "part: ", `{"trace": "`, "X-"}).Draw(t, "before")
			after := rapid.SampledFrom([]string{"", ".", `"}`, " of it"}).Draw(t, "after")
			parts := cut(text, rapid.IntRange(4, max(5, len(text)/2)).Draw(t, "size"))
			for i := range parts {
				parts[i] = before + parts[i] + after
			}
			if len(parts) > 1 && strings.IndexByte(text, '\n') < 0 && before != "X-" && !has(s.FindSplit(parts), c.ID) {
				t.Fatalf("%s is not found over %q", c.ID, parts)
			}
		}
	})
	if hits := s.FindSplit([]string{"the same", "the same", "the same"}); hits != nil {
		t.Errorf("%v", hits)
	}
}
