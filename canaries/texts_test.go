package canaries

import (
	"encoding/base64"
	"testing"
)

func TestOfTexts(t *testing.T) {
	t.Parallel()
	s := OfTexts([]string{"lighthouse", "tide", "return the library books"})
	for body, want := range map[string]string{
		"about the lighthouse":             "lighthouse",
		"about the tide":                   "", // too short to be told from chance
		"about the light house":            "",
		`{"a":"return the library books"}`: "return the library books",
		base64.StdEncoding.EncodeToString(backwards(deflated([]byte("[about the lighthouse, about the lighthouse, about the light]")))): "lighthouse",
	} {
		hits, err := s.FindBody([]byte(body), nil)
		got := ""
		if len(hits) > 0 {
			got = hits[0].ID
		}
		if err != nil || got != want {
			t.Errorf("%.60s: %q, %v; want %q", body, got, err, want)
		}
	}
}
