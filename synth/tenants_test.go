package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// What one tenant stored is asked for by another, with the words that it was stored with and the id that it got.
func TestTenants(t *testing.T) {
	t.Parallel()
	const adds = `{"type":"object","properties":{"customer":{"type":"string"},"title":{"type":"string","description":"The title, a short sentence"},"body":{"type":"string","description":"The text of the article"}},"required":["customer","title","body"]}`
	type article struct{ Customer, Title, Body string }
	for name, c := range map[string]struct {
		reads string
		finds func(a article, args map[string]string) bool
		want  bool
	}{
		"searched without regard to whose it is": {
			`{"type":"object","properties":{"customer":{"type":"string"},"query":{"type":"string"}},"required":["customer","query"]}`,
			func(a article, args map[string]string) bool { return strings.Contains(a.Title+a.Body, args["query"]) }, true,
		},
		"searched among one's own": {
			`{"type":"object","properties":{"customer":{"type":"string"},"query":{"type":"string"}},"required":["customer","query"]}`,
			func(a article, args map[string]string) bool { return a.Customer == args["customer"] }, false,
		},
		"without a customer": {
			`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`,
			func(article, map[string]string) bool { return true }, false,
		},
	} {
		f := newFake(tool("add_article", adds), tool("search_articles", c.reads))
		var kept []article
		f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
			var a article
			args := map[string]string{}
			_ = json.Unmarshal(raw, &a)
			_ = json.Unmarshal(raw, &args)
			if name == "add_article" {
				kept = append(kept, a)
				return success("added"), nil
			}
			var found []string
			for _, a := range kept {
				if c.finds(a, args) {
					found = append(found, a.Title+": "+a.Body)
				}
			}
			return success(strings.Join(found, "\n") + "."), nil
		}
		asked, told := 0, 0
		var word string
		cfg := Config{Calls: 3, OnCall: func(call Call) {
			word = ""
			for _, in := range call.Oracles {
				if in.Oracle == session.OracleTenant {
					asked, word = asked+1, in.Value
					if strings.Contains(string(call.Args), word) {
						t.Errorf("%s: the word is asked for: %s", name, call.Args)
					}
				}
			}
		}, OnReturn: func(_ Call, _ Outcome, r client.Result) {
			if word != "" && strings.Contains(string(r.Raw), word) {
				told++
			}
		}}
		drive(t, f, cfg)
		if want := name != "without a customer"; asked > 0 != want || told > 0 != c.want {
			t.Errorf("%s: asked %d times, told %d times, of %d articles", name, asked, told, len(kept))
		}
	}
}

func TestAnother(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"acme", "zzz", "17", "9", "team-9", "", "..", "北"} {
		if got := another(name); got == name || strings.ContainsRune(got, '\x00') {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := another("acme"); got != "acmf" {
		t.Errorf("%q", got)
	}
}
