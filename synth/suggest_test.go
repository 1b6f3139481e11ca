package synth

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// picky refuses what is not right, and says what would be; the drive gets through.
func TestRefusalsAreLearnedFrom(t *testing.T) {
	t.Parallel()
	one := func(name string) string {
		return `{"type":"object","properties":{"` + name + `":{"type":"string"}},"required":["` + name + `"]}`
	}
	for _, c := range []struct {
		name, schema string
		answers      func(args map[string]any) string // what is wrong, "" for nothing
	}{
		{"such as", one("grade"), func(a map[string]any) string {
			if a["grade"] != "B2" {
				return "Invalid grade. Use a grade such as 'B2' or 'C1'."
			}
			return ""
		}},
		{"such as, without quotation marks", one("captions"), func(a map[string]any) string {
			if s, _ := a["captions"].(string); !strings.Contains(s, " --> ") {
				return "no captions found; expected lines such as 00:00:01,000 --> 00:00:02,500"
			}
			return ""
		}},
		{"there are", one("job"), func(a map[string]any) string {
			if a["job"] != "nightly" {
				return fmt.Sprintf("no job %s; there are: nightly, weekly", a["job"])
			}
			return ""
		}},
		{"a list under its name", one("sheet"), func(a map[string]any) string {
			if a["sheet"] != "January" {
				return "sheets: January, February"
			}
			return ""
		}},
		{"the file has", one("name"), func(a map[string]any) string {
			if a["name"] != "web" {
				return fmt.Sprintf("KeyError: '%s; the Procfile has web, worker'", a["name"])
			}
			return ""
		}},
		{"revision", one("since"), func(a map[string]any) string {
			if a["since"] != "HEAD~1" {
				return "fatal: Needed a single revision"
			}
			return ""
		}},
		{"pattern", one("part"), func(a map[string]any) string {
			if s, _ := a["part"].(string); !strings.HasPrefix(s, "PX-") || len(s) != 7 {
				return "part does not match the pattern: ^PX-[0-9]{4}$"
			}
			return ""
		}},
		{"beginning", one("handle"), func(a map[string]any) string {
			if s, _ := a["handle"].(string); !strings.HasPrefix(s, "acct_") {
				return "handle must start with 'acct_'"
			}
			return ""
		}},
		{"end", one("target"), func(a map[string]any) string {
			if s, _ := a["target"].(string); !strings.HasSuffix(s, ".internal") || strings.Contains(s, " ") {
				return "the target ends in .internal, and has no blanks"
			}
			return ""
		}},
		{"address", one("feed"), func(a map[string]any) string {
			if s, _ := a["feed"].(string); !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") || strings.Contains(s, " ") {
				return "ValueError: a feed's address begins with http:// or https://"
			}
			return ""
		}},
		{"date", one("moment"), func(a map[string]any) string {
			if a["moment"] != "2026-03-14" {
				return "moment: expected YYYY-MM-DD"
			}
			return ""
		}},
		{"optional and needed", `{"type":"object","properties":{"kind":{"type":"string","enum":["a"]},"colour":{"type":"string"}},"required":["kind"]}`, func(a map[string]any) string {
			if a["colour"] == nil {
				return "missing argument: colour"
			}
			return ""
		}},
		{"absent file", `{"type":"object","properties":{"output_path":{"type":"string","description":"Path of the CSV file"}},"required":["output_path"]}`, func(a map[string]any) string {
			if s, _ := a["output_path"].(string); !strings.HasPrefix(s, "/w/data/") {
				return "open " + s + ": no such file or directory"
			}
			return ""
		}},
		{"one of two groups", `{"type":"object","properties":{"subject":{"type":"string","enum":["a"]},"before":{"type":"string"},"after":{"type":"string"},"area":{"type":"string"},"value":{"type":"string"}},"required":["subject"]}`, func(a map[string]any) string {
			if a["area"] != nil || a["value"] != nil {
				return "Areas are not supported for this subject."
			}
			if a["before"] == nil || a["after"] == nil {
				return "Must provide either (before + after) or (area + value)"
			}
			return ""
		}},
		{"what is available", one("section"), func(a map[string]any) string {
			if s, _ := a["section"].(string); s != "Usage" {
				return "Section '" + s + "' not found. Available: Usage, Installation"
			}
			return ""
		}},
		{"letters alone", one("label"), func(a map[string]any) string {
			if s, _ := a["label"].(string); strings.ContainsAny(s, " -.,") {
				return "Invalid label '" + s + "'. Start with a letter or underscore and use only letters, digits and underscores."
			}
			return ""
		}},
		{"a part that is unknown", `{"type":"object","properties":{"source":{"type":"string","pattern":"^[A-Z][a-z0-9]+![A-Z][0-9]$","examples":["Data!B2"]}},"required":["source"]}`, func(a map[string]any) string {
			s, _ := a["source"].(string)
			if sheet, _, _ := strings.Cut(s, "!"); sheet != "Stock1" {
				return "Sheet '" + sheet + "' not found. Available sheets: 'Stock1'."
			}
			return ""
		}},
		{"late", one("word"), func(a map[string]any) string { return "" }},
	} {
		f := newFake(wire.Tool{})
		f.surface.Tools = []wire.Tool{tool("check", c.schema)}
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			var args map[string]any
			if err := json.Unmarshal(raw, &args); err != nil {
				return refusal("bad"), nil
			}
			if wrong := c.answers(args); wrong != "" {
				return refusal(wrong), nil
			}
			return success("ok"), nil
		}
		if r := drive(t, f, Config{Calls: 3}); r.Tools[0].OK == 0 {
			t.Errorf("%s: no call succeeded: %q", c.name, f.log)
		}
	}
}

// What one tool answers as a whole is what another takes, where its description says so.
func TestAnswersAreHandedOn(t *testing.T) {
	t.Parallel()
	const seal = "-----BEGIN SEAL-----\nat: 2026-03-14\nby: 77\n-----END SEAL-----"
	maker, checker := tool("seal_text", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`), tool("check", `{"type":"object","properties":{"seal":{"type":"string"}},"required":["seal"]}`)
	maker.Description = "Makes a seal of a text."
	f := newFake(wire.Tool{})
	f.surface.Tools = []wire.Tool{checker, maker}
	f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
		var args map[string]any
		switch err := json.Unmarshal(raw, &args); {
		case err != nil:
			return refusal("bad"), nil
		case name == "seal_text":
			return success(seal), nil
		case args["seal"] != seal:
			return refusal("that is none"), nil
		}
		return success("ok"), nil
	}
	if r := drive(t, f, Config{Calls: 3}); r.Tools[0].OK == 0 {
		t.Errorf("no call succeeded: %q", f.log)
	}
}

// An example without quotation marks is one only if it is written as a value.
func TestBareExamples(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"use a time such as 10:30, please":      "10:30",
		"give a range, e.g. A1:B7":              "A1:B7",
		"not a colour; format: #rrggbb":         "#rrggbb",
		"such as a name that people remember.":  "",
		"expected: key=value\nand nothing more": "key=value",
	} {
		if got := plainExample(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A refusal of the characters of a name gets it in plain ones.
func TestRefusedCharacters(t *testing.T) {
	t.Parallel()
	d := newDriver(t.Context(), Config{Surface: &wire.Surface{}, Hints: WorkspaceHints("/w", 7, noFile), Now: newFake().clock})
	l := learner{d: d}
	for _, c := range []struct{ value, text, want string }{
		{"spring-notes", `invalid name "spring-notes": it should start with a letter`, "spring_notes"},
		{"spring notes", "Names of tables must not contain spaces", "spring_notes"},
		{"spring-notes", "spring-notes is not a valid SQL identifier", "spring_notes"},
		{"2026 report", "special characters are refused: 2026 report", "n2026_report"},
		{"naïve", "a label may not have any punctuation", "na_ve"},
		{"spring_notes", "a name begins with a letter", ""},
		{"spring-notes", "the answer starts with a greeting", ""},
		{"spring-notes", "invalid character 's' looking for beginning of value", `{"name":"report"}`},
	} {
		if got := l.better(c.value, c.text); got != c.want && (c.want != "" || got != c.value) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// What a tool refuses is tried again once another has made what it needs.
func TestToolsThatRefuseAreWorkedOn(t *testing.T) {
	t.Parallel()
	f := newFake(tool("get_item", `{"type":"object","properties":{"item_id":{"type":"string"}},"required":["item_id"]}`), tool("make_item", `{"type":"object","properties":{}}`))
	f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
		if name == "make_item" {
			return success(`{"item_id":"it-77"}`), nil
		}
		if !strings.Contains(string(raw), "it-77") {
			return refusal("no such item"), nil
		}
		return success("ok"), nil
	}
	if r := drive(t, f, Config{Calls: 1}); r.Tools[0].OK == 0 {
		t.Errorf("%q", f.log)
	}
	// One that refuses everything in the same words is given up.
	f = newFake(tool("never", anything))
	f.tool = func(string, json.RawMessage) (client.Result, error) { return refusal("no"), nil }
	if r := drive(t, f, Config{Calls: 4}); r.Tools[0].Calls > 4+maxStuck+1 {
		t.Errorf("%d calls", r.Tools[0].Calls)
	}
}

func FuzzSuggested(f *testing.F) {
	f.Add(`{"path":"/w/x.txt"}`, "path /w/x.txt not found, use one such as 'a'")
	f.Add(`{"a":"b"}`, "must match ^(a|b)+$")
	f.Fuzz(func(t *testing.T, args, text string) {
		d := newDriver(t.Context(), Config{Surface: &wire.Surface{}, Hints: WorkspaceHints("/w", 7, noFile), Now: newFake().clock})
		l := &learner{d: d, left: maxLearned}
		out := l.suggested(json.RawMessage(args), text)
		if out != nil && !json.Valid(out) {
			t.Errorf("%q %q: %q", args, text, out)
		}
	})
}

// Where two arguments have the value that a refusal quotes, it means the one that it names.
func TestARefusalNamesOneOfTwoAlike(t *testing.T) {
	t.Parallel()
	d := newDriver(t.Context(), Config{Surface: &wire.Surface{}, Hints: WorkspaceHints("/w", 7, noFile), Now: newFake().clock})
	l := &learner{d: d, left: maxLearned}
	const args = `{"range":"draft","sheet":"draft"}`
	if got := string(l.demands(json.RawMessage(args), "Sheet 'draft' not found. Available sheets: 'Sheet1', 'Sheet2'.")); got != `{"range":"draft","sheet":"Sheet1"}` {
		t.Errorf("demanded %s", got)
	}
	if got := string(l.suggested(json.RawMessage(args), "Invalid range 'draft'. Use A1 notation such as 'B2' or 'A1:C10'.")); got != `{"range":"B2","sheet":"draft"}` {
		t.Errorf("suggested %s", got)
	}
}
