package schema

import (
	"reflect"
	"testing"
)

func TestDeclaredAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		desc, tool string
		want       []string
	}{
		{"The video's URL (e.g. https://www.youtube.com/watch?v=abc123).", "", []string{"https://www.youtube.com/watch?v=abc123"}},
		{`should be a URL, owner/repo name (e.g. "vercel/ai") or a keyword`, "Fetch a deepwiki.com repo and return Markdown", []string{"vercel/ai", "https://deepwiki.com/"}},
		{"A page of https://example.org/wiki/.", "", []string{"https://example.org/wiki/"}},
		{"As https://api.example.com/items/...", "", nil},
		{"Such as http://localhost:3000/ or http://127.0.0.1/x or http://169.254.169.254/latest or http://db.internal/", "", nil},
		{"With http://user:secret@host.example.com/", "", nil},
		{"A template such as https://host/{name}", "", nil},
		{"Save it as report.json or index.md", "Reads config.yaml", nil},
		{"The address", "Asks a.com b.org c.net d.io e.dev", []string{"https://a.com/", "https://c.net/", "https://e.dev/"}},
	} {
		m := &meaning{kind: kURL, said: said(c.desc), text: c.desc}
		if got := declaredAddresses(m, c.tool); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, want %q", c.desc, got, c.want)
		}
	}
}
