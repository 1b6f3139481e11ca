package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// A tool that takes the text of a document gets one of the type that its argument, its refusal or its description names.
func TestDocumentsAsTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argument, described, tool, refusal, begins string }{
		{"bibtex", "", "format_references", "no entries found", "@article{"},
		{"text", "The vCard", "show_contact", "nothing was found", "BEGIN:VCARD"},
		{"source", "", "draw", "this is no Graphviz", "digraph"},
		{"content", "", "check_toml", "line 1: expected a key", "["},
		{"content_base64", "", "import_workbook", "The uploaded content is not an .xlsx/.xlsm workbook.", "UEsDB"},
		{"data", "The file in base64", "read_pdf", "no such document", "JVBERi"},
	} {
		f := newFake(wire.Tool{})
		f.surface.Tools = []wire.Tool{tool(c.tool, `{"type":"object","properties":{"`+c.argument+`":{"type":"string","description":"`+c.described+`"}},"required":["`+c.argument+`"]}`)}
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			var args map[string]any
			if err := json.Unmarshal(raw, &args); err != nil {
				return refusal("bad"), nil
			}
			if s, _ := args[c.argument].(string); !strings.HasPrefix(s, c.begins) {
				return refusal(c.refusal), nil
			}
			return success("ok"), nil
		}
		if r := drive(t, f, Config{Calls: 3, Hints: WorkspaceHints("/w", 7, noFile)}); r.Tools[0].OK == 0 {
			t.Errorf("%s: no call succeeded: %q", c.tool, f.log)
		}
	}
}

// A tool that takes any text gets a document where its argument says that it takes one.
func TestDocumentsForToolsThatTakeAnyText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argument, described, begins string }{
		{"patch", "Unified diff, as git diff writes it", "--- a/"},
		{"bibtex", "", "@article{"},
		{"text", "The vCard", "BEGIN:VCARD"},
		{"text", "What to say", ""},
	} {
		f, got := newFake(wire.Tool{}), false
		f.surface.Tools = []wire.Tool{tool("show", `{"type":"object","properties":{"`+c.argument+`":{"type":"string","description":"`+c.described+`"}},"required":["`+c.argument+`"]}`)}
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			var args map[string]any
			if err := json.Unmarshal(raw, &args); err != nil {
				return refusal("bad"), nil
			}
			s, _ := args[c.argument].(string)
			got = got || c.begins != "" && strings.HasPrefix(s, c.begins)
			return success("ok"), nil
		}
		if drive(t, f, Config{Calls: 3, Hints: WorkspaceHints("/w", 7, noFile)}); got != (c.begins != "") {
			t.Errorf("%s %q: a document was given: %v: %q", c.argument, c.described, got, f.log)
		}
	}
}

// A refusal that shows how a value was taken leads to one that is there.
func TestPlacesAndNumbersOfRefusals(t *testing.T) {
	t.Parallel()
	d := newDriver(t.Context(), Config{Surface: &wire.Surface{}, Hints: WorkspaceHints("/home/sam", 7, noFile), Now: newFake().clock})
	l := learner{d: d}
	file := d.cfg.Hints.Files[0]
	name := strings.TrimPrefix(file, "/home/sam/")
	for _, c := range []struct{ how, args, refusal, want string }{
		{"a text taken for a path", `{"keep":"The report is ready."}`, "[Errno 2] No such file or directory: '/home/sam/The report is ready.'", `{"keep":"` + name + `"}`},
		{"a path where the name is wanted", `{"file":"` + file + `"}`, "file is a name in the folder, without a path", `{"file":"` + name[strings.LastIndexByte(name, '/')+1:] + `"}`},
		{"a path that is to be relative", `{"path":"` + file + `"}`, file + " is not in /home/sam", `{"path":"` + name + `"}`},
		{"a number of too many", `{"feed":3,"episode":7}`, "the feed has no such episode", `{"episode":1,"feed":1}`},
		{"a text of its own", `{"title":"The report"}`, "bad title", ``},
	} {
		got := ""
		for _, correct := range []func(json.RawMessage, string) json.RawMessage{l.asPath, l.asName, l.counted} {
			if next := correct(json.RawMessage(c.args), c.refusal); next != nil && got == "" {
				got = string(next)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.how, got, c.want)
		}
	}
}
