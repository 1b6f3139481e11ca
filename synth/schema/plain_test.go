package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The first call takes what is likely to work here: a language that is installed,
// a file of the type that the tool reads, a token of the form that it decodes.
func TestFirstCallsArePlain(t *testing.T) {
	h := Hints{Files: []string{"/w/notes.txt", "/w/data/items.csv", "/w/old.txt"}, Documents: []string{"/w/report.pdf"}, Dirs: []string{"/w"}}
	for _, c := range []struct{ tool, schema, want string }{
		{"run-code", `{"properties":{"languageId":{"type":"string","enum":["clojure","go","javascript","python"]}},"required":["languageId"]}`, `"javascript"`},
		{"read_pdf", `{"properties":{"path":{"type":"string"}},"required":["path"]}`, `/w/report.pdf`},
		{"load", `{"properties":{"file":{"type":"string","description":"Path of a CSV file"}},"required":["file"]}`, `/w/data/items.csv`},
		{"read", `{"properties":{"path":{"type":"string"}},"required":["path"]}`, `/w/notes.txt`},
		{"jwt_decode", `{"properties":{"token":{"type":"string"}},"required":["token"]}`, unsigned},
		{"pdf_add_comment", `{"properties":{"path":{"type":"string"}},"required":["path"]}`, `/w/report.pdf`},
		{"create_table", `{"properties":{"file":{"type":"string","description":"Path of the CSV file"}},"required":["file"]}`, `/w/data/items.csv`},
		{"create_chart", `{"properties":{"outputPath":{"type":"string","description":"Where the PDF is written"}},"required":["outputPath"]}`, `"/w/`},
		{"create_pdf", `{"properties":{"path":{"type":"string"}},"required":["path"]}`, `/w/draft`},
		{"look", `{"properties":{"page":{"type":"string"}},"required":["page"]}`, `"1"`},
	} {
		g, err := New(json.RawMessage(c.schema), Options{Tool: c.tool, Hints: h, Object: true})
		if err != nil {
			t.Fatal(err)
		}
		args, err := g.Draw(1, TypicalRequired)
		if err != nil || !strings.Contains(string(args), c.want) {
			t.Errorf("%s: %s %v, want %s", c.tool, args, err, c.want)
		}
	}
}

// A description that shows an address tells that one is asked for, and gives it as an example.
func TestDescribedAddressesAreURLs(t *testing.T) {
	t.Parallel()
	for _, desc := range []string{"Address of the feed, for instance https://xkcd.com/rss.xml", "The page; begins with http:// or https://", "Web address of the page"} {
		if k := classify([]string{"feed"}, strings.ToLower(desc), ""); k != kURL {
			t.Errorf("%q: kind %d", desc, k)
		}
	}
	if got := said("Address of the feed, for instance https://xkcd.com/rss.xml"); !slices.Equal(got, []string{"https://xkcd.com/rss.xml"}) {
		t.Errorf("it is said: %q", got)
	}
}
