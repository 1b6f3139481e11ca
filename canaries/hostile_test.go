package canaries

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainURLs is urlsIn as one would write it, each URL for itself.
func plainURLs(b string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(b, "://")
		if !ok {
			return out
		}
		b = rest
		u := ampersands.Replace(b)
		if end := strings.IndexFunc(u, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`<>\\()|", r) }); end >= 0 {
			u = u[:end]
		}
		if strings.ContainsRune(u, '?') {
			out = append(out, u)
		}
	}
}

func TestURLsInAText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"://", "?", "&amp;", `\u0026`, `\`, "u0026", "a", "é", " ", "\"", "(", "=", ":", "/", "\n"})).Draw(t, "parts")
		text := strings.Join(parts, "")
		if got, want := urlsIn([]byte(text)), plainURLs(text); !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	})
}

// A body made to be dear: each of these once took minutes.
func TestFindBodyIsLinear(t *testing.T) {
	s := shared()
	for _, unit := range []string{"://", "://?", "://\"", `://\?`, "://a?b=c&d=e ", "BZh9", "http://a/?u=", "a=b&"} {
		body := bytes.Repeat([]byte(unit), 1<<20/len(unit))
		if hits, _ := s.FindBody(body, map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}}); hits != nil {
			t.Errorf("%q: %v", unit, hits)
		}
	}
}

// What hides behind a thousand false starts is not called looked at.
func TestFindBodyTellsOfFalseStarts(t *testing.T) {
	s := shared()
	c := byID(t, s, "aws-secret")
	hidden := []byte(base64.StdEncoding.EncodeToString(gzipped([]byte(c.Value))))
	if hits, err := s.FindBody(hidden, nil); !has(hits, c.ID) || err != nil {
		t.Fatalf("alone: %v, %v", hits, err)
	}
	body := append(bytes.Repeat([]byte("\x78\x01"), maxTries), hidden...)
	if hits, err := s.FindBody(body, nil); !has(hits, c.ID) && !errors.Is(err, ErrOpaque) {
		t.Errorf("got %v, %v", hits, err)
	}
	if _, err := s.FindBody(body[:maxTries], nil); err != nil {
		t.Errorf("some false starts: %v", err)
	}
}
