package synth

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// longCalls are the calls with long arguments that a drive makes.
func longCalls(t *testing.T, f *fake, cfg Config) []Call {
	t.Helper()
	var out []Call
	cfg.Session, cfg.Surface, cfg.Now, cfg.Hints = f, f.surface, f.clock, WorkspaceHints("/w", 7, noFile)
	cfg.OnCall = func(c Call) {
		if c.Class == ClassLong {
			out = append(out, c)
		}
	}
	if _, err := Drive(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return out
}

// Each parameter that takes a free text, a list of free items or a file gets one long argument.
func TestLongArguments(t *testing.T) {
	for name, c := range map[string]struct {
		property string
		kind     string // text, list or file, "" for none
	}{
		"text":              {`{"type":"string"}`, "text"},
		"or null":           {`{"anyOf":[{"type":"string"},{"type":"null"}]}`, "text"},
		"a large maxLength": {`{"type":"string","maxLength":5000}`, "cut"},
		"a small maxLength": {`{"type":"string","maxLength":200}`, ""},
		"enum":              {`{"type":"string","enum":["a","b"]}`, ""},
		"pattern":           {`{"type":"string","pattern":"^[a-z]+$"}`, ""},
		"a date":            {`{"type":"string","format":"date"}`, ""},
		"an address":        {`{"type":"string","description":"a URL of a page"}`, ""},
		"a file":            {`{"type":"string","description":"path to the file"}`, "file"},
		"texts":             {`{"type":"array","items":{"type":"string"}}`, "list"},
		"records":           {`{"type":"array","minItems":1,"items":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`, "list"},
		"few texts":         {`{"type":"array","maxItems":20,"items":{"type":"string"}}`, ""},
		"members":           {`{"type":"array","items":{"type":"string","enum":["a","b"]}}`, ""},
		"number":            {`{"type":"integer"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			calls := longCalls(t, newFake(tool("check", `{"type":"object","properties":{"given":`+c.property+`},"required":["given"]}`)), Config{})
			if c.kind == "" {
				if len(calls) > 0 {
					t.Errorf("%.200s", calls[0].Args)
				}
				return
			}
			if len(calls) != 1 {
				t.Fatalf("%d calls", len(calls))
			}
			var args struct{ Given any }
			if err := json.Unmarshal(calls[0].Args, &args); err != nil {
				t.Fatal(err)
			}
			text, _ := args.Given.(string)
			list, _ := args.Given.([]any)
			ok := map[string]bool{"file": text == "/w/docs/handbook.md", "list": len(list) == 300, "cut": len(text) == 5000,
				"text": strings.Count(text, "\n") > 1000 && len(text) > 50_000}[c.kind]
			if !ok || len(calls[0].Args) > 60<<10 {
				t.Errorf("%d bytes, %d lines, %d items: %.100s", len(text), strings.Count(text, "\n"), len(list), calls[0].Args)
			}
		})
	}
}

// Each tool has its first long argument before any tool its second, and the log stays small.
func TestLongArgumentsAreBounded(t *testing.T) {
	var tools []wire.Tool
	for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z") {
		tools = append(tools, tool(name, `{"type":"object","properties":{"text":{"type":"string"},"body":{"type":"string"}},"required":["text","body"]}`))
	}
	size, seen := 0, map[string]bool{}
	calls := longCalls(t, newFake(tools...), Config{Calls: 1})
	for _, c := range calls {
		if seen[c.Tool] {
			t.Errorf("%s comes again before others had their turn", c.Tool)
		}
		size, seen[c.Tool] = size+len(c.Args), true
	}
	if size > maxLongBytes || size < maxLongBytes/2 {
		t.Errorf("%d calls of %d bytes", len(calls), size)
	}
	again := longCalls(t, newFake(tools...), Config{Calls: 1})
	if !slices.EqualFunc(calls, again, func(a, b Call) bool { return a.Tool == b.Tool && string(a.Args) == string(b.Args) }) {
		t.Error("the same seed gives other calls")
	}
}

// A tool that takes long over a long text is not said to hang, and what removes files does not get the document.
func TestLongArgumentsAreNoFault(t *testing.T) {
	f := newFake(tool("check", anything), tool("delete_file", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`))
	f.tool = func(_ string, args json.RawMessage) (client.Result, error) {
		if len(args) > 10_000 {
			f.now = f.now.Add(time.Minute)
			return client.Result{}, client.ErrTimeout
		}
		return success("ok"), nil
	}
	var ends []Outcome
	calls := longCalls(t, f, Config{OnReturn: func(c Call, o Outcome, _ client.Result) {
		if c.Class == ClassLong {
			ends = append(ends, o)
		}
	}})
	if len(calls) != 1 || !slices.Equal(ends, []Outcome{Cancelled}) {
		t.Errorf("%d calls ended as %v", len(calls), ends)
	}
}
