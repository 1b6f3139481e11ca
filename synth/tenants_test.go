package synth

import (
	"encoding/json"
	"fmt"
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

// Another practice changes a visit by the number that the first one got.
func TestTenantsByID(t *testing.T) {
	t.Parallel()
	const books = `{"type":"object","properties":{"practice":{"type":"string"},"patient":{"type":"string","description":"The name of the patient, and why, in a short sentence"}},"required":["practice","patient"]}`
	const cancels = `{"type":"object","properties":{"practice":{"type":"string"},"visit":{"type":"integer","minimum":1,"description":"the number that book_visit returned"}},"required":["practice","visit"]}`
	for _, checks := range []bool{false, true} {
		f := newFake(tool("book_visit", books), tool("cancel_visit", cancels))
		f.surface.Instructions = "Each practice sees and changes its own visits only."
		type visit struct{ Practice, Patient string }
		var kept []visit
		f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
			var v visit
			var of struct {
				Practice string
				Visit    int
			}
			_ = json.Unmarshal(raw, &v)
			_ = json.Unmarshal(raw, &of)
			if name == "book_visit" {
				kept = append(kept, v)
				return success(fmt.Sprintf("%d: %s", len(kept), v.Patient)), nil
			}
			if of.Visit < 1 || of.Visit > len(kept) || checks && kept[of.Visit-1].Practice != of.Practice {
				return refusal("no such visit"), nil
			}
			return success("cancelled the visit of " + kept[of.Visit-1].Patient), nil
		}
		told := false
		word := ""
		cfg := Config{Calls: 3, OnCall: func(call Call) {
			word = ""
			for _, in := range call.Oracles {
				if in.Oracle == session.OracleTenant {
					word = in.Value
				}
			}
		}, OnReturn: func(_ Call, _ Outcome, r client.Result) {
			told = told || word != "" && strings.Contains(string(r.Raw), word)
		}}
		drive(t, f, cfg)
		if told == checks {
			t.Errorf("checks %t: told %t", checks, told)
		}
	}
}

func TestJoinedAlike(t *testing.T) {
	t.Parallel()
	got := joinedAlike(map[string]any{"customer": "acme", "item": "prices", "text": "some word", "n": 1.0}, map[string]any{"customer": "acmf", "item": "prices", "text": "x", "n": 1.0}, "customer", "word")
	if len(got) != 1 || string(got[0]) != `{"customer":"acm","item":"eprices","n":1,"text":"x"}` {
		t.Errorf("%s", got)
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
